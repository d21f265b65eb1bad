"""Tutorials: executed, and stored as notebooks in three languages.

    python docs/building/tutorials.py                  notebooks of all tutorials
    python docs/building/tutorials.py 3_positions      notebooks of one tutorial
    python docs/building/tutorials.py --execute        also where the code is as stored

A tutorial is executed only if its code has changed: a change of its words takes no time. The
sources are `docs/tutorials/*.py`, in the percent format that editors and jupytext show as a
notebook, with the words in three languages and the code once:

    # %% [markdown]              words in English
    # %% [markdown] lang="ja"    the same words in Japanese, then in Korean (lang="ko")
    # %%                         code
    # %% tags=["plot"]           code of a picture, folded
    # %% tags=["answer"]         code that answers an exercise, folded with its result

The notebooks are `docs/tutorials/NAME.ipynb`, `ja/NAME.ipynb` and `ko/NAME.ipynb`. The first code
cell, the links between languages and the last cell are added here.
"""

from __future__ import annotations

import argparse
import configparser
import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "tutorials"
LANGUAGES = {"en": "English", "ja": "日本語", "ko": "한국어"}
# Previous tutorial, next tutorial, glossary, open in a hosted notebook.
LINKS = {
    "en": ("Previous", "Next", "Glossary", "Run in Colab"),
    "ja": ("前へ", "次へ", "用語集", "Colab で実行"),
    "ko": ("이전", "다음", "용어집", "Colab에서 실행"),
}
# Drawings in the repository, below its address.
PICTURES = "/raw/HEAD/docs/pictures/"
# Packages of a tutorial that are not in the extra `plots`.
PACKAGES = {"6_translator": ["sentencepiece"]}
HEADER = re.compile(r'# %%( \[markdown\])?(?: lang="(\w+)")?(?: tags=(\[.*\]))?')


@dataclass
class Cell:
    """Cell of a source: words by language, or code."""

    words: dict[str, str] = field(default_factory=dict)
    code: str = ""
    tags: list[str] = field(default_factory=list)


def names() -> list[str]:
    """Names of the tutorials, in order."""
    return sorted(path.stem for path in FOLDER.glob("[0-9]_*.py"))


def read_source(name: str) -> list[Cell]:
    """Cells of a tutorial.

    Raises:
        ValueError: If a cell has a header of another form, or not all languages of the first cell.
    """
    cells: list[Cell] = []
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    for part in re.split(r"^(?=# %%)", text, flags=re.MULTILINE)[1:]:
        header, _, body = part.partition("\n")
        match = HEADER.fullmatch(header)
        if match is None:
            raise ValueError(f"A header must be as {__file__} lists. Received: {header!r}.")
        markdown, language, tags = match.groups()
        if not markdown:
            cells.append(Cell(code=body.strip(), tags=json.loads(tags or "[]")))
        elif language is None:
            cells.append(Cell({"en": _uncommented(body)}))
        else:
            cells[-1].words[language] = _uncommented(body)
    languages = list(cells[0].words)
    for cell in cells:
        if not cell.code and list(cell.words) != languages:
            raise ValueError(
                f"Each cell of words in {name} must have the languages {languages}, in this order. "
                f"Received: {list(cell.words)} in {cell.words}."
            )
    return cells


def _uncommented(text: str) -> str:
    return re.sub(r"^# ?", "", text, flags=re.MULTILINE).strip()


def path_of(name: str, language: str) -> Path:
    """File of a stored notebook."""
    return FOLDER / ("" if language == "en" else language) / f"{name}.ipynb"


def repository() -> str:
    """Address of the repository in `setup.cfg`, or "" before there is one."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser.get("metadata", "url", fallback="").rstrip("/")


def first_code(name: str) -> str:
    """Code that installs what is missing, and shows figures in the notebook."""
    packages = PACKAGES.get(name, [])
    more = "".join(f" {package}" for package in packages)
    needed = ", ".join(json.dumps(one) for one in ["keras_attn", "matplotlib_fontja", *packages])
    if address := repository():
        install = f'%pip install --quiet "keras_attn[plots] @ git+{address}"{more}'
    else:
        message = f"\"In a clone, run: pip install '.[plots]'{more}\""
        wrapped = f"\n        {message}\n    " if more else message
        install = f"raise ImportError({wrapped})"
    return f"""# Installs what is missing, for example in a hosted notebook.
import importlib.util

needed = ({needed})
if not all(importlib.util.find_spec(name) for name in needed):
    {install}
%matplotlib inline"""


def unexecuted(name: str, language: str = "en") -> dict[str, Any]:
    """Notebook of a tutorial without outputs."""
    source = read_source(name)
    first, *others = source
    cells = [_words(first.words[language] + "\n\n" + _other_languages(name, language, first))]
    cells.append(_code(first_code(name), ["install"]))
    for cell in others:
        cells.append(_code(cell.code, cell.tags) if cell.code else _words(cell.words[language]))
    cells.append(_words(_neighbours(name, language)))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # chosen by chance otherwise
    number = 0
    for cell in cells:
        if cell["cell_type"] == "code":
            number += 1
            cell["execution_count"] = number
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _words(text: str) -> dict[str, Any]:
    if address := repository():  # a hosted notebook has no file of the clone
        text = re.sub(r"\]\((?:\.\./)+pictures/", f"]({address}{PICTURES}", text)
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(text: str, tags: list[str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"tags": tags} if tags else {}
    if tags:  # JupyterLab shows hidden parts as a bar to click on
        metadata["jupyter"] = {"source_hidden": True}
        if "answer" in tags:
            metadata["jupyter"]["outputs_hidden"] = True
    return {"cell_type": "code", "metadata": metadata, "source": text, "outputs": []}


def _other_languages(name: str, language: str, first: Cell) -> str:
    """Links from a notebook to its translations, and to a hosted notebook where there is one."""
    up = "" if language == "en" else "../"
    links = [
        LANGUAGES[other]
        if other == language
        else f"[{LANGUAGES[other]}]({up}{path_of(name, other).relative_to(FOLDER)})"
        for other in first.words
    ]
    if repository().startswith("https://github.com/"):
        hosted = repository().replace("github.com", "colab.research.google.com/github")
        path = path_of(name, language).relative_to(ROOT)
        links.append(f"[{LINKS[language][3]}]({hosted}/blob/main/{path})")
    return " · ".join(links)


def _neighbours(name: str, language: str) -> str:
    """Links to the tutorials before and after this one, and to the glossary."""
    before, after, glossary, _ = LINKS[language]
    position = names().index(name)
    links = []
    for word, neighbours in ((before, names()[:position][-1:]), (after, names()[position + 1 :])):
        for neighbour in neighbours[:1]:
            words = read_source(neighbour)[0].words
            title = words.get(language, words["en"]).partition("\n")[0].lstrip("# ")
            up = "" if language == "en" or language in words else "../"
            links.append(f"{word}: [{title}]({up}{neighbour}.ipynb)")
    links.append(f"[{glossary}]({'' if language == 'en' else '../'}../glossary.md)")
    return " · ".join(links)


def read_notebook(path: Path) -> dict[str, Any]:
    """Stored notebook, with each text as one string, and with paths of pictures."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    up = "../" * len(path.relative_to(FOLDER).parts)
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
        cell["source"] = re.sub(rf"\]\(https?:\S+{PICTURES}", f"]({up}pictures/", cell["source"])
    return notebook


def write_notebooks(name: str, execute: bool = False) -> bool:
    """Store the notebooks of a tutorial. Returns whether its code was executed."""
    made = unexecuted(name)
    stored = path_of(name, "en")
    old = read_notebook(stored) if stored.exists() else made
    is_new = execute or not stored.exists() or _code_of(old) != _code_of(made)
    if is_new:
        from execution import outputs_of

        outputs = outputs_of(made)
    else:
        outputs = [cell["outputs"] for cell in old["cells"] if cell["cell_type"] == "code"]
    for language in read_source(name)[0].words:
        notebook = unexecuted(name, language)
        code_cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for cell, output in zip(code_cells, outputs, strict=True):
            cell["outputs"] = output
        for cell in notebook["cells"]:
            cell["source"] = cell["source"].splitlines(keepends=True)
        path = path_of(name, language)
        path.parent.mkdir(exist_ok=True)
        content = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
        path.write_text(content + "\n", encoding="utf-8")
    return is_new


def _code_of(notebook):
    """Code of a notebook after the first cell, which has no result."""
    return [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"][1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="tutorials (default: all)")
    parser.add_argument("--execute", action="store_true", help="execute unchanged code as well")
    arguments = parser.parse_args()
    for name in arguments.names or names():
        start = time.perf_counter()
        executed = write_notebooks(name, arguments.execute)
        seconds = time.perf_counter() - start
        print(f"{name}: " + (f"executed in {seconds:.0f} s" if executed else "words written"))


if __name__ == "__main__":
    main()
