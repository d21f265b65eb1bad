"""Python environments of their own for peers whose packages do not fit beside ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# With the options of `pip install` on the line of each call.
REQUIREMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "torch": (("torch==2.13.0", "numpy>=2", "sentencepiece"),),
    "joeynmt": (
        ("torch==2.13.0", "numpy>=2.4,<2.5", "sentencepiece==0.2.0", "importlib_metadata"),
        ("datasets", "pandas", "matplotlib", "seaborn", "sacremoses", "subword-nmt"),
        ("tensorboard", "pyyaml", "wrapt", "packaging", "pillow", "future", "six", "sacrebleu"),
        # Its own list asks for older releases of these.
        ("--no-deps", "joeynmt==2.3.0"),
    ),
}


def python_of(name: str, folder: Path) -> Path:
    """The interpreter of an environment below `folder`, which is made if it is not there."""
    environment = folder / name
    python = environment / "bin" / "python"
    done = environment / "requirements.txt"
    wanted = "\n".join(" ".join(call) for call in REQUIREMENTS[name])
    if not done.is_file() or done.read_text() != wanted:
        print(f"Making the environment of {name} in {environment} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        for call in REQUIREMENTS[name]:
            # By itself: packages on this process's path are none of the environment's.
            pip = [python, "-I", "-m", "pip", "install", "--quiet", *call]
            subprocess.run(pip, check=True)
        done.write_text(wanted)
    return python
