"""Start of this process: as a command of this package, or as a program that imports it."""

from __future__ import annotations

import sys
from pathlib import Path

PROGRAM = "keras-attn"
# Of a clone.
_TRAIN_SCRIPT = Path(__file__).parents[1] / "train.py"


def is_command() -> bool:
    """Whether this process is `keras-attn`, `python -m keras_attn...` or `train.py` of a clone."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":  # Python is looking for the module
        after = dict(zip(sys.orig_argv, sys.orig_argv[1:], strict=False))
        return after.get("-m", "").split(".")[0] == "keras_attn"
    return Path(program).stem == PROGRAM or Path(program).resolve() == _TRAIN_SCRIPT.resolve()
