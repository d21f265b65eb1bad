"""Tutorials: executed as notebooks, then rendered as pages in each language.

    python docs/building/tutorials.py                       all of them, about two minutes
    python docs/building/tutorials.py 3_positions           one of them

The sources are `docs/tutorials/*.py`, notebooks in jupytext's percent format. The executed
notebooks are written to `build/tutorials/`. `mkdocs build` shows them.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "docs" / "tutorials"
EXECUTED = ROOT / "build" / "tutorials"
LANGUAGES = ("ja", "ko")
# Separates the Markdown cells of a translation, which come in the order of the source.
NEXT_CELL = "<!-- next cell -->"


def names() -> list[str]:
    """Names of the tutorials, in order."""
    return sorted(path.stem for path in SOURCES.glob("[0-9]_*.py"))


def translated_cells(name: str, language: str) -> list[str] | None:
    """Markdown cells of a tutorial in another language, or None if there is no translation."""
    path = SOURCES / language / f"{name}.md"
    if not path.exists():
        return None
    return [cell.strip() for cell in path.read_text(encoding="utf-8").split(NEXT_CELL)]


def execute(name: str) -> None:
    """Run the cells of a tutorial and write the notebook with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: If a cell raises an error.
    """
    import jupytext
    import nbformat
    from nbclient import NotebookClient

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # The kernel imports the code of this checkout, installed or not.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    notebook = jupytext.read(SOURCES / f"{name}.py")
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": ROOT}}
    ).execute()
    EXECUTED.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, EXECUTED / f"{name}.ipynb")


def page(
    notebook: Mapping[str, Any], name: str, images: str, words: list[str] | None = None
) -> tuple[str, dict[str, bytes]]:
    """Page of an executed notebook.

    Args:
        notebook: Executed notebook.
        name: Name of the tutorial, the first part of the names of its pictures.
        images: Path of the folder of the pictures, relative to the page.
        words: Markdown cells of a translation. Defaults to None, the cells of the notebook.

    Returns:
        Markdown, and the pictures by file name.

    Raises:
        ValueError: If `words` has another number of cells than the notebook.
    """
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    if words is not None and len(words) != len(cells):
        raise ValueError(
            f"A translation of {name} must have {len(cells)} Markdown cells. Received: "
            f"{len(words)} cells. Separate them by {NEXT_CELL!r}."
        )
    texts = iter(words or [cell["source"] for cell in cells])
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    caption = ""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(next(texts))
            caption = heading(parts[-1]) or caption
        elif cell["source"].strip():
            source = re.sub(r"^%.*\n+", "", cell["source"], flags=re.MULTILINE)
            parts.append(f"```python\n{source.strip()}\n```")
            printed = "".join(o["text"] for o in cell["outputs"] if o.get("name") == "stdout")
            if printed:
                plain = re.sub(r"\x1b\[[0-9;]*m", "", printed).rstrip()  # without colours
                parts.append(f"```text\n{plain}\n```")
            for data in (output.get("data", {}) for output in cell["outputs"]):
                if "image/png" in data:
                    file = f"{name}_{len(pictures) + 1}.png"
                    pictures[file] = base64.b64decode(data["image/png"])
                    parts.append(f"![{caption}]({images}/{file})")
                elif "text/plain" in data:
                    parts.append(f"```text\n{data['text/plain'].rstrip()}\n```")
    return "\n\n".join(parts) + "\n", pictures


def heading(markdown: str) -> str:
    """Last heading of a Markdown cell without marks, the text in place of a picture under it."""
    found = re.findall(r"^#+ (.+)$", markdown, flags=re.MULTILINE)
    return re.sub(r"[`$\[\]]|\{.*\}", "", found[-1]).strip() if found else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="tutorials (default: all)")
    arguments = parser.parse_args()
    for name in arguments.names or names():
        start = time.perf_counter()
        execute(name)
        print(f"{name}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
