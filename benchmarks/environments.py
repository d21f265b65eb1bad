"""Separate Python environments for peers whose packages conflict with ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Arguments of each call of `pip install`, one call for each line.
REQUIREMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "torch": (("torch==2.13.0", "numpy>=2", "sentencepiece"),),
    "marian": (
        ("torch==2.14.1", "numpy>=2", "sentencepiece==0.2.3", "transformers==5.24.0"),
        ("ctranslate2==4.8.5",),
    ),
    "joeynmt": (
        ("torch==2.13.0", "numpy>=2.4,<2.5", "sentencepiece==0.2.0", "importlib_metadata"),
        ("datasets", "pandas", "matplotlib", "seaborn", "sacremoses", "subword-nmt"),
        ("tensorboard", "pyyaml", "wrapt", "packaging", "pillow", "future", "six", "sacrebleu"),
        # The requirements of JoeyNMT name older releases of these packages.
        ("--no-deps", "joeynmt==2.3.0"),
    ),
}


def python_of(name: str, folder: Path) -> Path:
    """Interpreter of an environment in `folder`; the environment is created if it is missing."""
    environment = folder / name
    python = environment / "bin" / "python"
    done = environment / "requirements.txt"
    wanted = "\n".join(" ".join(call) for call in REQUIREMENTS[name])
    if not done.is_file() or done.read_text() != wanted:
        print(f"Making the environment of {name} in {environment} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        for call in REQUIREMENTS[name]:
            # Without `PYTHONPATH`: packages of this process do not belong to the environment.
            pip = [python, "-I", "-m", "pip", "install", "--quiet", *call]
            subprocess.run(pip, check=True)
        done.write_text(wanted)
    return python
