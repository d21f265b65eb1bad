"""Evaluation report as Markdown: scores with a legend, the worst translations first."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from keras_attn.translation.config import Config
from keras_attn.translation.evaluation.exactness import Exactness
from keras_attn.translation.evaluation.metrics import Scores
from keras_attn.translation.evaluation.report import UNSEEN, EpochRecord, Report

ACCEPTABLE = (
    "sentences of `in_the_wild.tsv`, as people type them, written independently of the corpora, "
    "whose translation passes hand-written checks"
)
# Included in the report if the files exist.
FIGURES = ("learning.png", "attention.png")
# Names of the numbers in a report, spelled out.
SCORES = {
    "BLEU": "matching word sequences, from 0 to 100; ± is half of the 95% confidence interval",
    "chrF": "matching character sequences, from 0 to 100",
    "TER": "edits for each 100 words of the reference; 0 is best",
    "number accuracy": "sentences with digits in the reference whose translation has the same "
    "numbers",
    "copy accuracy": "sentences with URLs, addresses, placeholders or tags whose translation has "
    "all of them unchanged",
}
CORPUS = {
    "read": "pairs read",
    "broken": "left out: no TAB, or no valid UTF-8",
    "empty": "left out: a side is empty",
    "too_long": "left out: a side is longer than 500 characters",
    "equal_sides": "left out: both sides are equal",
    "wrong_script": "left out: a side is in the script of another language",
    "duplicate": "left out: the pair occurred before",
    "odd_lengths": "left out: lengths that fit no translation",
    "kept": "pairs kept",
    "groups": "groups of pairs that share a sentence",
    "train": "training pairs",
    "validation": "validation sentences",
    "test": "test sentences",
    "scored": "validation and test sentences, which are trained on too",
    "withheld": "left out of training: shares a sentence with what the model is measured on",
    "held_out": "left out: the pair shares a sentence with a held-out test set",
    "parts": "parts, one for each epoch in turn",
}
TRAINING = {
    "steps": "batches",
    "epochs": "epochs",
    "seconds": "seconds, validation included",
    "tokens_per_second": "source and target tokens per second, padding not counted",
    "validation_bleu": "best validation BLEU",
    "parameters": "weights",
}
# Columns of the fields of `EpochRecord`.
LEARNING = ("batches", "seconds", "training loss", "validation BLEU")
# Digits after the point of numbers that need fewer than all.
_DIGITS = {"epochs": 1, "validation_bleu": 1, "loss": 3, "bleu": 1}
_DIGITS |= {"seconds": 0, "tokens_per_second": 0}


def report_lines(report: Report, folder: Path) -> list[str]:
    """Lines of `report.md` in a folder, with the figures that are there."""
    details = dict(report.details)
    corpus, training = details.pop("corpus", {}), details.pop("training", {})
    configuration = details.pop("configuration", {})
    plain = {name: value for name, value in details.items() if not isinstance(value, dict)}
    others = {name: value for name, value in details.items() if isinstance(value, dict)}
    columns = ("source", "translation", "reference")
    lengths = [
        (one.characters, f"{one.sentences:,}", f"{one.bleu:.1f}") for one in report.by_length
    ]
    validations = [
        [str(number), *map(readable, EpochRecord._fields, record)]
        for number, record in enumerate(report.history, start=1)
    ]
    figures = (name for name in FIGURES if (folder / name).is_file())
    return [
        "# Evaluation",
        "",
        *score_lines(report),
        *_bullets(plain),
        *section("Worst translations, by chrF", columns, report.worst),
        *section("Translations evenly spaced over the test sentences", columns, report.samples),
        *section("Best translations, by chrF", columns, report.best),
        *section("BLEU by length of the source", ("characters", "sentences", "BLEU"), lengths),
        *section("Learning", ("validation", *LEARNING), validations),
        *(line for name in figures for line in ("", f"![{_title(Path(name).stem)}]({name})")),
        *section("Corpus", ("what", "number"), _spelled_out(corpus, CORPUS)),
        *section("Training", ("what", "number"), _spelled_out(training, TRAINING)),
        *section("Configuration", ("setting", "value", "meaning"), _settings(configuration)),
        *(
            line
            for name, values in others.items()
            for line in ("", f"## {escape(_title(name))}", "", *_bullets(values))
        ),
        "",
        "## Signatures of sacreBLEU",
        "",
        *_signatures(report),
    ]


def score_lines(report: Report) -> list[str]:
    """Table of the scores with their meaning, comparison, and a table of the test sets."""
    values = _values(report.scores, report.exactness)
    meanings = [(name, value, SCORES[name]) for name, value in zip(SCORES, values, strict=True)]
    if share := report.acceptable_share():
        meanings.insert(1, (f"acceptable {UNSEEN}", share, ACCEPTABLE))
    sets = [
        (f"{one.name}{remark}", f"{one.num_sentences:,}", *_values(one.scores, one.exactness))
        for found, remark in ((report.by_corpus, ""), (report.held_out, ", held out"))
        for one in found
    ]
    return [
        *table(("score", "value", "meaning"), meanings),
        "",
        *(f"- {escape(line)}" for line in report.remarks()),
        *(["", *table(("test set", "sentences", *SCORES), sets)] if sets else []),
    ]


def _values(scores: Scores, exactness: Exactness) -> tuple[str, ...]:
    """Values in the order of `SCORES`."""
    return (
        f"{scores.bleu:.1f} ± {scores.bleu_interval:.1f}",
        f"{scores.chrf:.1f}",
        f"{scores.ter:.1f}",
        str(exactness.numbers),
        str(exactness.copies),
    )


def _spelled_out(values: Mapping[str, Any], names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Values that are not zero or empty, with their names."""
    return [
        (names.get(name, name), readable(name, value))
        for name, value in values.items()
        if value not in ("", None, 0)
    ]


def _settings(values: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Flags with their values and help texts."""
    helps = {field.name: field.metadata["help"] for field in dataclasses.fields(Config)}
    return [
        (f"--{name.replace('_', '-')}", readable(name, value), helps.get(name, ""))
        for name, value in values.items()
        if value != ""
    ]


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
