"""Files of an evaluation report: JSON, Markdown, and all translations as TSV."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from keras_attn.translation.evaluation.markdown import report_lines
from keras_attn.translation.evaluation.report import Report

TRANSLATIONS = "translations.tsv"


def write(report: Report, folder: Path) -> None:
    """Write `report.json`, `report.md` and `translations.tsv` (all translations)."""
    record = {name: _plain(value) for name, value in vars(report).items()}
    del record["translations"]
    text = json.dumps(record, indent=2, ensure_ascii=False, default=str)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    markdown = "\n".join(report_lines(report, folder)) + "\n"
    (folder / "report.md").write_text(markdown, encoding="utf-8")
    lines = ("\t".join(" ".join(text.split()) for text in row) for row in report.translations)
    (folder / TRANSLATIONS).write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")


def earlier_translations(folder: Path, sources: Sequence[str]) -> list[str] | None:
    """Translations of an earlier report, or None if its sources differ from `sources`."""
    path = folder / TRANSLATIONS
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    rows = [line.split("\t") for line in text.splitlines()]
    if [row[0] for row in rows] != [" ".join(source.split()) for source in sources]:
        return None
    return [row[1] for row in rows] if all(len(row) > 1 for row in rows) else None


def check_baseline(folder: Path, sources: Sequence[str]) -> None:
    """Raise a `ValueError` unless a folder holds earlier translations of `sources`."""
    if earlier_translations(folder, sources) is None:
        path = folder / TRANSLATIONS
        received = "of other sentences" if path.is_file() else "which does not exist"
        raise ValueError(
            "The baseline must be a folder with translations of the same sentences, as train.py "
            f"and `evaluate --out` write them. Received: `{path}`, {received}."
        )


def _plain(value: Any) -> Any:
    """Convert named tuples and dataclasses to dicts, so that JSON keeps the field names."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return [_plain(part) for part in value] if isinstance(value, list) else value
