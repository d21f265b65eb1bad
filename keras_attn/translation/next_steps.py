"""Commands that use a trained model, printed at the end of a training."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from keras_attn.started import PROGRAM


def program() -> str:
    """Start of a command line of this package, as it works in this environment."""
    found = shutil.which(PROGRAM)
    if found and Path(found).parent == Path(sys.executable).parent:
        return PROGRAM
    return f"{shlex.quote(sys.executable)} -m keras_attn"


def next_steps(version: Path, text: str) -> str:
    """Three commands: translate a text, serve the model, read the report.

    Args:
        version: Folder of the exported version.
        text: Source text that is translated.

    Example:

    >>> print(next_steps(Path("saved_models/ja-en/1"), "猫だ。"))  # doctest: +ELLIPSIS
    Translate, serve, read the report:
        ... translate saved_models/ja-en '猫だ。'
        ... serve saved_models/ja-en
        ... saved_models/ja-en/1/report.md
    """
    model = shlex.quote(str(version.parent))
    pager = "more" if os.name == "nt" else "less"
    return "\n    ".join(
        [
            "Translate, serve, read the report:",
            f"{program()} translate {model} {shlex.quote(text)}",
            f"{program()} serve {model}",
            f"{pager} {shlex.quote(str(version / 'report.md'))}",
        ]
    )
