"""BLEU and chrF of translations, and the report that goes with a model."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from keras_attn.translation.splits import Example

# Without spaces between words there are no words to count: characters take their place. All other
# languages get the tokenization of the WMT evaluations.
_BLEU_TOKENIZERS = {"ja": "char", "zh": "char"}
_DEFAULT_BLEU_TOKENIZER = "13a"


@dataclass(frozen=True)
class Scores:
    """Corpus scores from 0 to 100, each with the sacreBLEU signature that says what it measures."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


class Sample(NamedTuple):
    """A test sentence, what the model made of it, and its own translation."""

    source: str
    translation: str
    reference: str


@dataclass(frozen=True)
class Report:
    """What an evaluation found.

    Attributes:
        scores: BLEU and chrF.
        num_sentences: Sentences scored.
        seconds: Time that their translation took.
        samples: Evenly spaced test sentences.
        details: Anything else worth keeping: numbers and strings by name, or dicts of such.
    """

    scores: Scores
    num_sentences: int
    seconds: float
    samples: list[Sample]
    details: dict[str, Any] = field(default_factory=dict)

    def summary(self) -> str:
        """Scores and samples for the terminal."""
        samples = (
            f"  {sample.source}\n    = {sample.translation}\n    ~ {sample.reference}"
            for sample in self.samples
        )
        return "\n".join(["Samples (= translation, ~ reference):", *samples, *self._headline()])

    def write(self, folder: Path) -> None:
        """Write `report.json` and, for people, `report.md`."""
        record = dataclasses.asdict(self)
        record["samples"] = [sample._asdict() for sample in self.samples]
        text = json.dumps(record, indent=2, ensure_ascii=False, default=str)
        (folder / "report.json").write_text(text + "\n", encoding="utf-8")
        (folder / "report.md").write_text(self._markdown(), encoding="utf-8")

    def _headline(self) -> list[str]:
        scores = self.scores
        return [
            f"BLEU {scores.bleu:.1f} ({scores.bleu_signature})",
            f"chrF {scores.chrf:.1f} ({scores.chrf_signature})",
            f"{self.num_sentences:,} sentences translated in {self.seconds:.1f} s",
        ]

    def _markdown(self) -> str:
        headline = [f"- {_escape(line)}" for line in self._headline()]
        plain = {name: value for name, value in self.details.items() if not _is_section(value)}
        sections = {name: value for name, value in self.details.items() if _is_section(value)}
        lines = ["# Evaluation", "", *headline, *_bullets(plain), "", "## Samples", ""]
        lines += _table(Sample._fields, self.samples)
        for name, values in sections.items():
            lines += ["", f"## {_escape(_title(name))}", "", *_bullets(values)]
        return "\n".join(lines) + "\n"


def score(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], target_language: str
) -> Scores:
    """BLEU and chrF of a whole corpus, by sacreBLEU.

    BLEU: Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine Translation" (2002).
    chrF: Popović, "chrF: character n-gram F-score for automatic MT evaluation" (2015).

    Args:
        hypotheses: Translations.
        references: For each hypothesis, one or more right translations.
        target_language: Language code of both; decides how BLEU parts words.

    Raises:
        ValueError: If there is nothing to score or a hypothesis has no reference.
    """
    # Here and not above: what only trains should not wait for it.
    from sacrebleu.metrics import BLEU, CHRF

    if not hypotheses or len(hypotheses) != len(references) or not all(references):
        raise ValueError(
            "There must be at least one hypothesis, and at least one reference for each. Received: "
            f"{len(hypotheses)} hypotheses and references for {sum(map(bool, references))}."
        )
    # sacreBLEU wants the first references of all, the second ones of all, ...; None where none is.
    most = max(map(len, references))
    streams: list[Any] = [
        [row[i] if i < len(row) else None for row in references] for i in range(most)
    ]
    language = re.split("[-_]", target_language.lower())[0]
    bleu = BLEU(tokenize=_BLEU_TOKENIZERS.get(language, _DEFAULT_BLEU_TOKENIZER))
    chrf = CHRF()
    bleu_score = bleu.corpus_score(hypotheses, streams).score
    chrf_score = chrf.corpus_score(hypotheses, streams).score
    return Scores(bleu_score, str(bleu.get_signature()), chrf_score, str(chrf.get_signature()))


def evaluate(
    translate: Callable[[list[str]], list[str]],
    examples: Sequence[Example],
    target_language: str,
    num_samples: int = 10,
    details: dict[str, Any] | None = None,
) -> Report:
    """Translates the sources of the examples and scores the result.

    Args:
        translate: Maps texts to their translations, in the same order.
        examples: Sentences with their references.
        target_language: Language code of the translations.
        num_samples: Sentences to show, evenly spaced over the examples.
        details: What the report should say besides.

    Raises:
        ValueError: If there are no examples or `translate` does not give one string for each.
    """
    sources = [example.source for example in examples]
    start = time.monotonic()
    translations = list(translate(sources))
    seconds = time.monotonic() - start
    if len(translations) != len(sources):
        raise ValueError(
            "`translate` must return one translation for each text. "
            f"Received: {len(translations)} for {len(sources)} texts."
        )
    scores = score(translations, [example.references for example in examples], target_language)
    count = min(num_samples, len(examples))
    shown = [i * len(examples) // count for i in range(count)]
    samples = [Sample(sources[i], translations[i], examples[i].references[0]) for i in shown]
    return Report(scores, len(examples), seconds, samples, dict(details or {}))


def _is_section(value: Any) -> bool:
    return isinstance(value, dict)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _bullets(values: dict[str, Any]) -> list[str]:
    return [
        f"- {_escape(_title(str(name)))}: {_escape(_readable(value))}"
        for name, value in values.items()
        if value not in ("", None)
    ]


def _readable(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [list(header), ["---"] * len(header), *([_escape(c) for c in row] for row in rows)]
    return [f"| {' | '.join(row)} |" for row in cells]


def _escape(text: str) -> str:
    """Text as Markdown shows it literally, in one line."""
    return re.sub(r"([\\`*_\[\]<>|&~$])", r"\\\1", " ".join(text.split()))
