"""Origin of an imported model: name, licence and citations, as its folder states them."""

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from keras_attn.translation.versions import EXTRA, ORIGIN, ORIGIN_DOCUMENTS

_DOCUMENTS = ("README.md", "LICENSE*", "CITATION*")
_LICENCE = re.compile(r"^license:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_CITATION = re.compile(r"@\w+\{.*?\n\}", re.DOTALL)


class Origin(NamedTuple):
    """Origin of a model as its folder states it; empty where it states nothing."""

    name: str
    licence: str  # name of the licence
    citation: str  # entries of BibTeX


def of_folder(folder: Path, name: str = "") -> Origin:
    """Origin by the model card of a folder; `name` defaults to the name of the folder."""
    path = folder / "README.md"
    card = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    licence = _LICENCE.search(card)
    citation = "\n\n".join(_CITATION.findall(card))
    return Origin(name or folder.resolve().name, licence[1] if licence else "", citation)


def keep(origin: Origin, folder: Path, version: Path) -> None:
    """Write the origin to an exported version, with the documents of the imported folder."""
    extra = version / EXTRA
    text = json.dumps(origin._asdict(), indent=2, ensure_ascii=False) + "\n"
    (extra / ORIGIN).write_text(text, encoding="utf-8")
    for pattern in _DOCUMENTS:
        for path in sorted(folder.glob(pattern)):
            (extra / ORIGIN_DOCUMENTS).mkdir(exist_ok=True)
            shutil.copy(path, extra / ORIGIN_DOCUMENTS)
