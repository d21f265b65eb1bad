"""Evaluation report: scores, samples and training history."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from keras_attn.translation.evaluation.exactness import Exactness, Share, count
from keras_attn.translation.evaluation.metrics import Comparison, Scores

UNSEEN = "acceptable on unseen sentences"


class Sample(NamedTuple):
    """Test sentence, translation by the model, and reference translation."""

    source: str
    translation: str
    reference: str


class EpochRecord(NamedTuple):
    """Training state at a validation, after an epoch."""

    step: int
    seconds: float  # training time so far
    loss: float  # averaged training loss
    bleu: float  # validation BLEU


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
        values = ", ".join(map(" ".join, self.values().items()))
        return f"{self.name}, {count(self.num_sentences, 'sentence')}: {values}"

    def values(self) -> dict[str, str]:
        """Scores by name, as texts."""
        return {
            "BLEU": f"{self.scores.bleu:.1f} ± {self.scores.bleu_interval:.1f}",
            "chrF": f"{self.scores.chrf:.1f}",
            "TER": f"{self.scores.ter:.1f}",
            "number accuracy": str(self.exactness.numbers),
            "copy accuracy": str(self.exactness.copies),
        }


@dataclass(frozen=True)
class Report:
    """Results of an evaluation."""

    scores: Scores
    exactness: Exactness
    num_sentences: int
    seconds: float  # translation time of all sentences
    samples: list[Sample]  # evenly spaced over the test sentences
    best: list[Sample] = field(default_factory=list)  # by chrF
    worst: list[Sample] = field(default_factory=list)
    by_length: list[LengthGroup] = field(default_factory=list)
    by_corpus: list[SetScores] = field(default_factory=list)  # if there are several corpora
    held_out: list[SetScores] = field(default_factory=list)
    acceptable: Share | None = None  # of the development half of `in_the_wild.tsv`
    translations: list[Sample] = field(default_factory=list)  # all test sentences
    comparison: Comparison | None = None  # with an earlier version
    history: list[EpochRecord] = field(default_factory=list)
    # Additional numbers and strings by name; a dict becomes a section.
    details: dict[str, Any] = field(default_factory=dict)

    def summary(self) -> str:
        """Scores of all test sets, then samples, for the terminal."""
        lines = [
            *map(" ".join, self.values().items()),
            *self.remarks(),
            *map(str, self.by_corpus),
            *(f"Held out, {found}" for found in self.held_out),
            "Samples (= translation, ~ reference):",
        ]
        for source, translation, reference in self.samples:
            lines += [f"  {source}", f"    = {translation}", f"    ~ {reference}"]
        return "\n".join(lines)

    def values(self) -> dict[str, str]:
        """Scores of all sentences by name, as texts."""
        bleu, *others = SetScores("", 0, self.scores, self.exactness).values().items()
        share = self.acceptable
        text = share and f"{share.right} of {share.sentences} (development half)"
        return dict([bleu, *([(UNSEEN, text)] if text else []), *others])

    def remarks(self) -> list[str]:
        """Translation time, and the comparison with an earlier version, one line each."""
        lines = [f"{count(self.num_sentences, 'sentence')} translated in {self.seconds:.1f} s"]
        return [*lines, str(self.comparison)] if self.comparison else lines
