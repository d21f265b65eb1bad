"""BLEU, chrF and TER by sacreBLEU, with confidence intervals."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from keras_attn.languages import read_language

# Number of bootstrap samples of the test set.
NUM_RESAMPLES = 1000


class Scores(NamedTuple):
    """Corpus scores, each with its sacreBLEU signature."""

    bleu: float  # 0 to 100; higher is better
    bleu_interval: float  # half the width of the 95% confidence interval, by bootstrap resampling
    bleu_signature: str
    chrf: float  # 0 to 100; higher is better
    chrf_signature: str
    ter: float  # edits for each 100 words of the reference; lower is better
    ter_signature: str


class Comparison(NamedTuple):
    """Paired comparison with earlier translations of the same sentences."""

    baseline: str  # name of the earlier translations
    baseline_bleu: float
    gain: float  # BLEU of the new translations minus `baseline_bleu`
    # Probability of a difference at least this large by chance (paired bootstrap, Koehn 2004).
    p_value: float

    def __str__(self) -> str:
        """Comparison in one line."""
        return (
            f"BLEU {self.gain:+.1f} against {self.baseline} ({self.baseline_bleu:.1f}), "
            f"p = {self.p_value:.3f}"
        )


def bleu(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], target_language: str
) -> float:
    """Corpus BLEU (Papineni et al. 2002); equals the BLEU of `score`."""
    by_place = _by_place(hypotheses, references)
    return _bleu_metric(target_language).corpus_score(hypotheses, by_place).score


def score(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], target_language: str
) -> Scores:
    """BLEU, chrF and TER of a corpus.

    BLEU: Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine Translation" (2002).
    chrF: Popović, "chrF: character n-gram F-score for automatic MT evaluation" (2015).
    TER: Snover et al., "A Study of Translation Edit Rate with Targeted Human Annotation" (2006).

    Each hypothesis has one or more references. The language determines the tokenization.
    """
    by_place = _by_place(hypotheses, references)
    bleu_metric, chrf = _bleu_metric(target_language), CHRF()
    ter = TER(normalized=True, asian_support=read_language(target_language).bleu == "char")
    found = bleu_metric.corpus_score(hypotheses, by_place, n_bootstrap=NUM_RESAMPLES)
    return Scores(
        bleu=found.score,
        bleu_interval=found._ci,  # sacreBLEU has no public attribute for the interval
        bleu_signature=str(bleu_metric.get_signature()),
        chrf=chrf.corpus_score(hypotheses, by_place).score,
        chrf_signature=str(chrf.get_signature()),
        ter=ter.corpus_score(hypotheses, by_place).score,
        ter_signature=str(ter.get_signature()),
    )


def sentence_chrf(hypothesis: str, references: Sequence[str], with_words: bool = False) -> float:
    """chrF of one translation, 0 to 100; BLEU of single sentences is too often 0.

    `with_words` counts words and pairs of words too (chrF++, Popović 2017).
    """
    return CHRF(word_order=2 * with_words).sentence_score(hypothesis, list(references)).score


def chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Corpus chrF, 0 to 100; equals the chrF of `score`."""
    return CHRF().corpus_score(hypotheses, _by_place(hypotheses, references)).score


def compare(
    name: str,
    baseline: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    target_language: str,
) -> Comparison:
    """Paired bootstrap of BLEU against `baseline`: earlier translations of the same sentences."""
    by_place = _by_place(hypotheses, references)
    systems: list[tuple[str, Sequence[str]]] = [("baseline", baseline), ("now", hypotheses)]
    metrics = {"BLEU": _bleu_metric(target_language)}
    test = PairedTest(systems, metrics, by_place, test_type="bs", n_samples=NUM_RESAMPLES)
    found: dict[str, Any] = test()[1]
    before, now = found["BLEU"]
    return Comparison(name, before.score, now.score - before.score, now.p_value)


def _bleu_metric(target_language: str) -> BLEU:
    return BLEU(tokenize=read_language(target_language).bleu)


def _by_place(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> list[Any]:
    """References by rank: the first of each sentence, the second of each, ...; None if missing."""
    if not hypotheses or len(hypotheses) != len(references) or not all(references):
        raise ValueError(
            "There must be at least one hypothesis and at least one reference for each. Received: "
            f"{len(hypotheses)} hypotheses and references for {sum(map(bool, references))}."
        )
    most = max(map(len, references))
    return [[row[i] if i < len(row) else None for row in references] for i in range(most)]
