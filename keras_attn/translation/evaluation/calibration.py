"""Calibration of search and `is_uncertain` on validation sentences, before an export."""

from collections.abc import Sequence

import numpy as np

from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation import metrics
from keras_attn.translation.export.signatures import EVIDENCE, Signatures

# A translation with at least this chrF is taken for right.
RIGHT_CHRF = 55
# Share of the right translations of validation that may be marked. Of typed sentences, about a
# tenth of the right ones are (benchmarks/results/translation.md).
MARKED_OF_RIGHT = 0.2
NUM_SENTENCES = 1500
MIN_SENTENCES = 30  # right ones, and wrong ones; with fewer, the default stays


class Calibration:
    """Fits shortlist and confidence of a model to validation sentences (`Signatures`).

    The log-odds that a translation is right are fitted to its evidence (`EVIDENCE`) by logistic
    regression. The threshold marks the share `MARKED_OF_RIGHT` of the right translations. `details`
    are the figures for the report, empty without a calibration.
    """

    def __init__(self, examples: Sequence[Example]):
        step = max(1, len(examples) // NUM_SENTENCES)
        self._examples = examples[::step][:NUM_SENTENCES]
        self.details: dict[str, str] = {}

    def __call__(self, signatures: Signatures) -> None:
        if not self._examples:
            return
        sources, references = zip(*self._examples, strict=True)
        signatures.fit_shortlist(sources, [of_source[0] for of_source in references])
        translations, evidence = signatures.translate_with_evidence(sources)
        scores = map(metrics.sentence_chrf, translations, references)
        is_right = np.array([score >= RIGHT_CHRF for score in scores])
        if min(is_right.sum(), (~is_right).sum()) < MIN_SENTENCES:
            return
        weights = fit(evidence, is_right)
        signatures.confidence.assign(weights)
        is_marked = evidence @ weights[:-1] + weights[-1] < 0
        terms = [
            f"{weight:.2f} × {name}" for weight, name in zip(weights[:-1], EVIDENCE, strict=True)
        ]
        self.details = {
            "marked if below 0": " + ".join([*terms, f"{weights[-1]:.2f}"]),
            "marked right translations": f"{is_marked[is_right].mean():.0%}",
            "marked wrong translations": f"{is_marked[~is_right].mean():.0%}",
            "right": f"chrF at least {RIGHT_CHRF}",
            "validation sentences": f"{len(is_right)}",
        }


def fit(evidence: np.ndarray, is_right: np.ndarray) -> np.ndarray:
    """Weights of the columns of the evidence, and a bias, float32.

    Logistic regression by Newton's method. The bias is moved so that `MARKED_OF_RIGHT` of the right
    ones are below 0.
    """
    columns = np.c_[evidence, np.ones(len(evidence))].astype(np.float64)
    weights = np.zeros(columns.shape[1])
    for _ in range(20):
        probability = 1 / (1 + np.exp(-columns @ weights))
        curvature = (columns.T * (probability * (1 - probability))) @ columns + 1e-3 * np.eye(
            len(weights)
        )
        gradient = columns.T @ (is_right - probability) - 1e-3 * weights
        weights += np.linalg.solve(curvature, gradient)
    weights[-1] -= np.quantile((columns @ weights)[is_right], MARKED_OF_RIGHT)
    return weights.astype(np.float32)
