"""The benchmark of memory runs, here on a small length."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_memory_of_the_plain_path_is_printed():
    sizes = ["--length", "1024", "--width", "16", "--heads", "2", "--paths", "plain"]
    done = subprocess.run(
        [sys.executable, "benchmarks/attention_memory.py", *sizes],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("keras_attn, with"))
    words = line.split()
    # Scores, weights and their gradients are 2 * 1024 * 1024 numbers of 4 bytes each.
    assert float(words[words.index("GiB") - 1]) > 0
