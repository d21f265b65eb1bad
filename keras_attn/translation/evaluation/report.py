"""Evaluation report: scores, samples and training history, as JSON, Markdown and TSV."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from keras_attn.translation.evaluation.exactness import Exactness
from keras_attn.translation.evaluation.metrics import Comparison, Scores

TRANSLATIONS = "translations.tsv"
FIGURES = ("learning.png", "attention.png")  # included in the report if the files exist


class Sample(NamedTuple):
    """Test sentence, translation by the model, and reference translation."""

    source: str
    translation: str
    reference: str


class LengthGroup(NamedTuple):
    """BLEU of the test sentences in one range of source lengths, in characters."""

    characters: str
    sentences: int
    bleu: float


class SetScores(NamedTuple):
    """Scores of one set of sentences: of one of several corpora, or of a held-out test set."""

    name: str
    num_sentences: int
    scores: Scores
    exactness: Exactness

    def __str__(self) -> str:
        """Scores in one line."""
        scores = self.scores
        return (
            f"{self.name}, {count(self.num_sentences, 'sentence')}: "
            f"BLEU {scores.bleu:.1f} ± {scores.bleu_interval:.1f}, chrF {scores.chrf:.1f}, "
            f"number accuracy {self.exactness.numbers}, copy accuracy {self.exactness.copies}"
        )


@dataclass(frozen=True)
class Report:
    """Results of an evaluation.

    Attributes:
        scores: BLEU, chrF and TER.
        exactness: Accuracy of numbers and of copied text.
        num_sentences: Number of sentences scored.
        seconds: Translation time of all sentences, in seconds.
        samples: Samples evenly spaced over the test sentences.
        best: Samples with the highest chrF.
        worst: Samples with the lowest chrF.
        by_length: BLEU by source length.
        by_corpus: Scores of the sentences of each corpus, if there are several.
        held_out: Scores of further test sets, which training left out.
        translations: All test sentences with translations.
        comparison: Comparison with an earlier version, or None.
        history: One named tuple for each epoch of training.
        details: Additional numbers and strings by name; a dict becomes a section.
    """

    scores: Scores
    exactness: Exactness
    num_sentences: int
    seconds: float
    samples: list[Sample]
    best: list[Sample] = field(default_factory=list)
    worst: list[Sample] = field(default_factory=list)
    by_length: list[LengthGroup] = field(default_factory=list)
    by_corpus: list[SetScores] = field(default_factory=list)
    held_out: list[SetScores] = field(default_factory=list)
    translations: list[Sample] = field(default_factory=list)
    comparison: Comparison | None = None
    history: list[Any] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def summary(self) -> str:
        """Scores, then samples, for the terminal."""
        samples = (
            f"  {sample.source}\n    = {sample.translation}\n    ~ {sample.reference}"
            for sample in self.samples
        )
        return "\n".join([*self.headline(), "Samples (= translation, ~ reference):", *samples])

    def write(self, folder: Path) -> None:
        """Write `report.json`, `report.md` and `translations.tsv` (all translations)."""
        record = {name: _plain(value) for name, value in vars(self).items()}
        del record["translations"]
        text = json.dumps(record, indent=2, ensure_ascii=False, default=str)
        (folder / "report.json").write_text(text + "\n", encoding="utf-8")
        (folder / "report.md").write_text(self._markdown(folder), encoding="utf-8")
        lines = ("\t".join(" ".join(text.split()) for text in row) for row in self.translations)
        (folder / TRANSLATIONS).write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")

    def headline(self) -> list[str]:
        """Scores, translation time, comparison and scores of each set, one line each."""
        scores = self.scores
        lines = [
            f"BLEU {scores.bleu:.1f} ± {scores.bleu_interval:.1f}",
            f"chrF {scores.chrf:.1f}",
            f"TER {scores.ter:.1f}",
            f"Number accuracy {self.exactness.numbers}",
            f"Copy accuracy {self.exactness.copies}",
            f"{count(self.num_sentences, 'sentence')} translated in {self.seconds:.1f} s",
        ]
        if self.comparison:
            against = self.comparison
            lines.append(
                f"BLEU {against.gain:+.1f} against {against.baseline} "
                f"({against.baseline_bleu:.1f}), p = {against.p_value:.3f}"
            )
        lines += map(str, self.by_corpus)
        return [*lines, *(f"Held out, {found}" for found in self.held_out)]

    def _signatures(self) -> list[str]:
        """Bullets with the signatures of the scores, by test set."""
        sets = {"": self.scores, **{f", {one.name}": one.scores for one in self.held_out}}
        return [
            f"- {metric}{escape(name)}: `{signature}`"
            for name, scores in sets.items()
            for metric, signature in (
                ("BLEU", scores.bleu_signature),
                ("chrF", scores.chrf_signature),
                ("TER", scores.ter_signature),
            )
        ]

    def _markdown(self, folder: Path) -> str:
        headline = [f"- {escape(line)}" for line in self.headline()]
        plain = {name: value for name, value in self.details.items() if not _is_section(value)}
        sections = {name: value for name, value in self.details.items() if _is_section(value)}
        lines = ["# Evaluation", "", *headline, *_bullets(plain), "", "## Samples", ""]
        lines += _table(Sample._fields, self.samples)
        for title, samples in (("Best", self.best), ("Worst", self.worst)):
            if samples:
                lines += ["", f"## {title} by chrF", "", *_table(Sample._fields, samples)]
        if self.by_length:
            rows = [(g.characters, f"{g.sentences:,}", f"{g.bleu:.1f}") for g in self.by_length]
            lines += ["", "## BLEU by length of the source", ""]
            lines += _table(LengthGroup._fields, rows)
        if self.history:
            epochs = [[_readable(part) for part in row] for row in self.history]
            lines += ["", "## Learning", "", *_table(self.history[0]._fields, epochs)]
        for picture in FIGURES:
            if (folder / picture).is_file():
                lines += ["", f"![{_title(Path(picture).stem)}]({picture})"]
        for name, values in sections.items():
            lines += ["", f"## {escape(_title(name))}", "", *_bullets(values)]
        lines += ["", "## Signatures of sacreBLEU", "", *self._signatures()]
        return "\n".join(lines) + "\n"


def count(number: int, noun: str) -> str:
    """Number with a noun in the singular or plural."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


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
    """Check that a folder holds earlier translations of `sources`.

    Raises:
        ValueError: If there are no such translations.
    """
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


def _is_section(value: Any) -> bool:
    return isinstance(value, dict)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _bullets(values: dict[str, Any]) -> list[str]:
    return [
        f"- {escape(_title(str(name)))}: {escape(_readable(value))}"
        for name, value in values.items()
        if value not in ("", None)
    ]


def _readable(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [list(header), ["---"] * len(header), *([escape(c) for c in row] for row in rows)]
    return [f"| {' | '.join(row)} |" for row in cells]


def escape(text: str) -> str:
    """Escape text for Markdown, in one line."""
    return re.sub(r"([\\`*_\[\]<>|&~$])", r"\\\1", " ".join(text.split()))
