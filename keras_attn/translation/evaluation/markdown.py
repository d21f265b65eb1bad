"""Evaluation report as Markdown: scores with a legend, the worst translations first."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from keras_attn.translation.config import Config
from keras_attn.translation.evaluation import legend
from keras_attn.translation.evaluation.report import Report

# Included in the report if the files exist.
FIGURES = ("learning.png", "attention.png")


def report_lines(report: Report, folder: Path) -> list[str]:
    """Lines of `report.md`.

    Args:
        report: Evaluation.
        folder: Folder of the report. Figures in it are included.
    """
    details = dict(report.details)
    corpus, training = details.pop("corpus", {}), details.pop("training", {})
    configuration = details.pop("configuration", {})
    plain = {name: value for name, value in details.items() if not isinstance(value, dict)}
    sections = {name: value for name, value in details.items() if isinstance(value, dict)}
    lines = ["# Evaluation", "", *score_lines(report), *_bullets(plain)]
    for title, samples in (
        ("Worst translations, by chrF", report.worst),
        ("Translations evenly spaced over the test sentences", report.samples),
        ("Best translations, by chrF", report.best),
    ):
        if samples:
            header = ("source", "translation", "reference")
            lines += ["", f"## {title}", "", *table(header, samples)]
    if report.by_length:
        rows = [(g.characters, f"{g.sentences:,}", f"{g.bleu:.1f}") for g in report.by_length]
        lines += ["", "## BLEU by length of the source", ""]
        lines += table(("characters", "sentences", "BLEU"), rows)
    if report.history:
        names = report.history[0]._fields
        validations = [
            [str(number), *map(legend.readable, names, row)]
            for number, row in enumerate(report.history, start=1)
        ]
        lines += ["", "## Learning", ""]
        lines += table(
            ["validation", *(legend.LEARNING.get(name, name) for name in names)], validations
        )
    for picture in FIGURES:
        if (folder / picture).is_file():
            lines += ["", f"![{_title(Path(picture).stem)}]({picture})"]
    lines += _named_numbers("Corpus", corpus, legend.CORPUS)
    lines += _named_numbers("Training", training, legend.TRAINING)
    lines += _configuration(configuration)
    for name, values in sections.items():
        lines += ["", f"## {escape(_title(name))}", "", *_bullets(values)]
    return [*lines, "", "## Signatures of sacreBLEU", "", *_signatures(report)]


def score_lines(report: Report) -> list[str]:
    """Table of the scores with their meaning, comparison, and a table of the test sets."""
    scores, exactness = report.scores, report.exactness
    values = (
        f"{scores.bleu:.1f} ± {scores.bleu_interval:.1f}",
        f"{scores.chrf:.1f}",
        f"{scores.ter:.1f}",
        str(exactness.numbers),
        str(exactness.copies),
    )
    rows = [
        (name, value, meaning)
        for (name, meaning), value in zip(legend.SCORES.items(), values, strict=True)
    ]
    lines = table(("score", "value", "meaning"), rows)
    lines += ["", *(f"- {escape(line)}" for line in report.remarks())]
    sets = [
        *((one.name, one) for one in report.by_corpus),
        *((f"{one.name}, held out", one) for one in report.held_out),
    ]
    if sets:
        header = ("test set", "sentences", *legend.SCORES)
        cells = [
            (
                name,
                f"{one.num_sentences:,}",
                f"{one.scores.bleu:.1f} ± {one.scores.bleu_interval:.1f}",
                f"{one.scores.chrf:.1f}",
                f"{one.scores.ter:.1f}",
                str(one.exactness.numbers),
                str(one.exactness.copies),
            )
            for name, one in sets
        ]
        lines += ["", *table(header, cells)]
    return lines


def _named_numbers(title: str, values: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """Section with a table of the values that are not zero, spelled out."""
    rows = [
        (names.get(name, name), legend.readable(name, value))
        for name, value in values.items()
        if value not in ("", None, 0)
    ]
    return ["", f"## {title}", "", *table(("what", "number"), rows)] if rows else []


def _configuration(values: Mapping[str, Any]) -> list[str]:
    """Section with a table of all settings and their meaning."""
    helps = {field.name: field.metadata["help"] for field in dataclasses.fields(Config)}
    rows = [
        (f"--{name.replace('_', '-')}", legend.readable(name, value), helps.get(name, ""))
        for name, value in values.items()
        if value != ""
    ]
    if not rows:
        return []
    return ["", "## Configuration", "", *table(("setting", "value", "meaning"), rows)]


def _signatures(report: Report) -> Iterator[str]:
    sets = {"": report.scores, **{f", {one.name}": one.scores for one in report.held_out}}
    for name, scores in sets.items():
        yield f"- BLEU{escape(name)}: `{scores.bleu_signature}`"
        yield f"- chrF{escape(name)}: `{scores.chrf_signature}`"
        yield f"- TER{escape(name)}: `{scores.ter_signature}`"


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _bullets(values: Mapping[str, Any]) -> list[str]:
    return [
        f"- {escape(_title(str(name)))}: {escape(legend.readable(name, value))}"
        for name, value in values.items()
        if value not in ("", None)
    ]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; cells are escaped."""
    cells = [list(header), ["---"] * len(header), *([escape(c) for c in row] for row in rows)]
    return [f"| {' | '.join(row)} |" for row in cells]


def escape(text: str) -> str:
    """Escape text for Markdown, in one line."""
    return re.sub(r"([\\`*_\[\]<>|&~$])", r"\\\1", " ".join(text.split()))
