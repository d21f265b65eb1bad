"""Processes that tests start."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(command, folder=ROOT, **environment):
    """The ended process of a command that imports this checkout, with the text that it printed."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )


def run_python(*arguments, may_fail=False, **environment):
    """The ended process of another Python, which must succeed unless it `may_fail`."""
    ended = run([sys.executable, *arguments], **environment)
    assert may_fail or ended.returncode == 0, ended.stderr
    return ended
