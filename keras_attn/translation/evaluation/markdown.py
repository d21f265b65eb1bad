"""Evaluation report as Markdown: scores with a legend, the worst translations first."""

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from keras_attn.translation.config import Config
from keras_attn.translation.evaluation.report import UNSEEN, Report, Sample

# Included in the report if the files exist.
FIGURES = ("learning.png", "attention.png")
# Meanings of the scores, and names of the numbers, that are in a report.
LEGEND = json.loads(Path(__file__).with_name("legend.json").read_text(encoding="utf-8"))
# Columns of the fields of `EpochRecord`.
_LEARNING = ("batches", "seconds", "training loss", "validation BLEU")
# Digits after the point of numbers that need fewer than all.
_DIGITS = {"epochs": 1, "validation_bleu": 1, "loss": 3, "bleu": 1}
_DIGITS |= {"seconds": 0, "tokens_per_second": 0}


def report_lines(report: Report, folder: Path) -> list[str]:
    """Lines of `report.md` in a folder, with the figures that are there."""
    details = dict(report.details)
    corpus, training, configuration = (
        details.pop(name, {}) for name in ("corpus", "training", "configuration")
    )
    others = {name: value for name, value in details.items() if isinstance(value, dict)}
    lengths = _rows(report.by_length)
    validations = [[str(i), *row] for i, row in enumerate(_rows(report.history), start=1)]
    lines = ["# Evaluation", "", *score_lines(report)]
    lines += _bullets({name: value for name, value in details.items() if name not in others})
    for title, samples in (
        ("Worst translations, by chrF", report.worst),
        ("Translations evenly spaced over the test sentences", report.samples),
        ("Best translations, by chrF", report.best),
    ):
        lines += section(title, Sample._fields, samples)
    lines += section("BLEU by length of the source", ("characters", "sentences", "BLEU"), lengths)
    lines += section("Learning", ("validation", *_LEARNING), validations)
    for name in FIGURES:
        if (folder / name).is_file():
            lines += ["", f"![{_title(Path(name).stem)}]({name})"]
    lines += section("Corpus", ("what", "number"), spelled_out("corpus", corpus))
    lines += section("Training", ("what", "number"), spelled_out("training", training))
    lines += section("Configuration", ("setting", "value", "meaning"), _settings(configuration))
    for name, values in others.items():
        lines += ["", f"## {escape(_title(name))}", "", *_bullets(values)]
    lines += ["", "## Signatures of sacreBLEU", ""]
    sets = [("", report.scores), *((f", {one.name}", one.scores) for one in report.held_out)]
    for name, scores in sets:
        for metric in ("BLEU", "chrF", "TER"):
            signature = getattr(scores, f"{metric.lower()}_signature")
            lines.append(f"- {metric}{escape(name)}: `{signature}`")
    return lines


def score_lines(report: Report) -> list[str]:
    """Table of the scores with their meaning, comparison, and a table of the test sets."""
    values = report.values()
    sets = [
        (f"{one.name}{remark}", f"{one.num_sentences:,}", *one.values().values())
        for found, remark in ((report.by_corpus, ""), (report.held_out, ", held out"))
        for one in found
    ]
    header = ("test set", "sentences", *(name for name in values if name != UNSEEN))
    meanings = [(name, value, LEGEND["scores"][name]) for name, value in values.items()]
    return [
        *table(("score", "value", "meaning"), meanings),
        "",
        *(f"- {escape(line)}" for line in report.remarks()),
        *(["", *table(header, sets)] if sets else []),
    ]


def spelled_out(section: str, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Values that are not zero or empty, with their names in a section of the legend."""
    names = LEGEND[section]
    return [
        (names.get(name, name), readable(name, value)) for name, value in values.items() if value
    ]


def _rows(records: Iterable[Any]) -> list[list[str]]:
    """Fields of named tuples as texts."""
    return [[*map(readable, one._fields, one)] for one in records]


def _settings(values: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Flags with their values and help texts."""
    helps = {field.name: field.metadata["help"] for field in dataclasses.fields(Config)}
    return [
        (f"--{name.replace('_', '-')}", readable(name, value), helps.get(name, ""))
        for name, value in values.items()
        if value != ""
    ]


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _bullets(values: Mapping[str, Any]) -> list[str]:
    return [
        f"- {escape(_title(str(name)))}: {escape(readable(name, value))}"
        for name, value in values.items()
        if value not in ("", None)
    ]


def readable(name: str, value: object) -> str:
    """A value as text, with separators of thousands and as many digits as tell something.

    >>> [readable("seconds", 3211.7), readable("loss", 4.0 / 3), readable("learning_rate", 4e-3)]
    ['3,212', '1.333', '0.004']
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.{_DIGITS[name]}f}" if name in _DIGITS else f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def section(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Heading and table, after an empty line; nothing without rows."""
    return ["", f"## {title}", "", *table(header, rows)] if rows else []


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; cells are escaped."""
    cells = [list(header), ["---"] * len(header), *([escape(c) for c in row] for row in rows)]
    return [f"| {' | '.join(row)} |" for row in cells]


def escape(text: str) -> str:
    """Escape text for Markdown, in one line."""
    return re.sub(r"([\\`*_\[\]<>|&~$])", r"\\\1", " ".join(text.split()))
