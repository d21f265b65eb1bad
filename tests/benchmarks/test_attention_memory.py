"""The benchmark of memory runs, here on a small length."""

import sys

import pytest
from processes import run


@pytest.mark.slow
def test_memory_of_the_plain_path_is_printed():
    sizes = ["--length", "1024", "--width", "16", "--heads", "2", "--paths", "plain"]
    done = run([sys.executable, "benchmarks/attention_memory.py", *sizes])
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("keras_attn, with"))
    words = line.split()
    # Scores, weights and their gradients are 2 * 1024 * 1024 numbers of 4 bytes each.
    assert float(words[words.index("GiB") - 1]) > 0
