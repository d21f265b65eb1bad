"""The score of a translator: BLEU and chrF of the exported artefact, with samples, as a report."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from keras_attn.translation.splits import Example

# Written without spaces between words, which BLEU's usual tokenizer counts on.
SPACELESS_LANGUAGES = ("ja", "zh")


@dataclass(frozen=True)
class Scores:
    """Corpus BLEU and chrF, 0 to 100, with the sacreBLEU signatures that say how they were taken."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


def score(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], target_language: str
) -> Scores:
    """BLEU (Papineni et al. 2002) and chrF (Popović 2015), by sacreBLEU (Post 2018).

    Args:
        hypotheses: Translations.
        references: For each, one or more right translations.
        target_language: Its code chooses BLEU's tokenizer: characters for Japanese and Chinese.

    Returns:
        The scores.

    Raises:
        ValueError: If there is nothing to score, or the lists differ in length.

    Example:

    >>> score(["I drink tea."], [["I drink tea.", "I am drinking tea."]], "en").bleu
    100.0
    """
    if not hypotheses or len(hypotheses) != len(references):
        raise ValueError(
            "`hypotheses` and `references` must be as many, and at least one. "
            f"Received: {len(hypotheses)} hypotheses, {len(references)} references."
        )
    from sacrebleu.metrics import BLEU, CHRF

    most = max(len(each) for each in references)
    # sacreBLEU wants as many references for each sentence; None stands for a missing one.
    streams = [[r[i] if i < len(r) else None for r in references] for i in range(most)]
    bleu = BLEU(tokenize="char" if target_language in SPACELESS_LANGUAGES else "13a")
    chrf = CHRF()
    bleu_score = bleu.corpus_score(list(hypotheses), streams).score
    chrf_score = chrf.corpus_score(list(hypotheses), streams).score
    return Scores(
        bleu=min(bleu_score, 100.0),  # rounding leaves a perfect score a hair above
        bleu_signature=str(bleu.get_signature()),
        chrf=min(chrf_score, 100.0),
        chrf_signature=str(chrf.get_signature()),
    )


class Sample(NamedTuple):
    """One sentence of the report."""

    source: str
    translation: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """What an evaluation found.

    Attributes:
        scores: BLEU and chrF.
        num_sentences: Sentences translated.
        seconds: Time it took to translate them.
        samples: Some of them, evenly spaced.
        details: What else is worth knowing about the model: corpus, configuration, machine.
    """

    scores: Scores
    num_sentences: int
    seconds: float
    samples: list[Sample]
    details: dict[str, Any] = field(default_factory=dict)

    def summary(self) -> str:
        """The scores and samples, for a terminal."""
        lines = [
            f"BLEU {self.scores.bleu:.1f} ({self.scores.bleu_signature})",
            f"chrF {self.scores.chrf:.1f} ({self.scores.chrf_signature})",
            f"on {self.num_sentences:,} test sentences in {self.seconds:.1f} s",
        ]
        lines += [
            f"    {s.source}  →  {s.translation}  (reference: {s.references[0]})"
            for s in self.samples
        ]
        return "\n".join(lines)

    def write(self, folder: Path) -> None:
        """Write `report.json` and `report.md` into `folder`."""
        record = dataclasses.asdict(self)
        record["samples"] = [sample._asdict() for sample in self.samples]
        text = json.dumps(record, indent=2, ensure_ascii=False)
        (folder / "report.json").write_text(text + "\n", encoding="utf-8")
        (folder / "report.md").write_text(self._markdown(), encoding="utf-8")

    def _markdown(self) -> str:
        lines = [
            "# Report",
            "",
            "| score | value | signature |",
            "|---|---|---|",
            f"| BLEU | {self.scores.bleu:.2f} | `{self.scores.bleu_signature}` |",
            f"| chrF | {self.scores.chrf:.2f} | `{self.scores.chrf_signature}` |",
            "",
            f"{self.num_sentences:,} test sentences, translated in {self.seconds:.1f} s by the "
            "exported model.",
            "",
            "## Samples",
            "",
            "| source | translation | reference |",
            "|---|---|---|",
        ]
        lines += [
            f"| {_cell(s.source)} | {_cell(s.translation)} | {_cell(s.references[0])} |"
            for s in self.samples
        ]
        for name, value in self.details.items():
            lines += ["", f"## {name.capitalize()}", ""]
            if isinstance(value, dict):
                lines += ["| | |", "|---|---|"]
                lines += [f"| {_cell(str(k))} | {_cell(str(v))} |" for k, v in value.items()]
            else:
                lines.append(_cell(str(value)))
        return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text as Markdown shows it and does not read it."""
    escaped = "".join(f"\\{c}" if c in r"\`*_{}[]<>#|~&" else c for c in text)
    return " ".join(escaped.split())


def evaluate(
    translate: Callable[[list[str]], list[str]],
    examples: Sequence[Example],
    target_language: str,
    num_samples: int = 10,
    details: dict[str, Any] | None = None,
) -> Report:
    """Translate the sources of `examples` and score the result.

    Args:
        translate: From sources to translations, in order.
        examples: Test sentences with their references.
        target_language: Code of the language translated into.
        num_samples: Sentences shown in the report. Defaults to 10.
        details: Goes into the report as it is.

    Returns:
        The report.
    """
    start = time.monotonic()
    translations = translate([example.source for example in examples])
    seconds = time.monotonic() - start
    scores = score(translations, [e.references for e in examples], target_language)
    spacing = max(1, len(examples) // num_samples)
    samples = [
        Sample(example.source, translation, example.references)
        for example, translation in zip(examples, translations, strict=True)
    ][::spacing][:num_samples]
    return Report(scores, len(examples), seconds, samples, details or {})
