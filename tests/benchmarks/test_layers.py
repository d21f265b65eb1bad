"""The benchmark runs, and refuses to compare layers that compute different things."""

import sys

import pytest
from processes import run


@pytest.mark.slow  # starts a process of all peers
def test_peers_agree_and_every_row_has_a_ratio_for_each_peer():
    options = "--shapes 2,7,10,5 --repeats 1 --seconds 0.01 --causal".split()
    done = run([sys.executable, "benchmarks/layers.py", *options])
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("2, 7, 10, 5")]
    assert [row[18:46].split() for row in rows] == [
        [dtype, name]
        for dtype in ("float32", "bfloat16")
        for name in ("forward", "forward+backward")
    ]
    header = next(line for line in done.stdout.splitlines() if line.startswith("B, T, D, H"))
    num_peers = header.count("/ours")
    assert num_peers >= 1
    for row in rows:
        numbers = [float(part) for part in row[46:].split()]
        assert len(numbers) == 1 + 2 * num_peers
        assert all(number >= 0 for number in numbers)  # 0.00 on a busy machine
