from types import SimpleNamespace

import numpy as np
import pytest

from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.calibration import MARKED_OF_RIGHT, Calibration, fit

RANDOM = np.random.default_rng(0)


def drawn(weights, number=4000):
    """Evidence, and what is right with the log-odds that follow from it."""
    evidence = RANDOM.normal([-0.6, 0.9, -2.0, -3.0], [0.4, 0.2, 0.5, 0.3], [number, 4])
    odds = evidence @ weights[:-1] + weights[-1]
    return evidence, RANDOM.random(number) < 1 / (1 + np.exp(-odds))


def test_the_fit_finds_the_weights_and_marks_a_share_of_what_is_right():
    evidence, is_right = drawn(np.array([5.0, 3.0, 2.0, 1.0, 7.0]))
    weights = fit(evidence, is_right)
    np.testing.assert_allclose(weights[:4], [5, 3, 2, 1], rtol=0.2, atol=0.2)
    is_marked = evidence @ weights[:-1] + weights[-1] < 0
    assert is_marked[is_right].mean() == pytest.approx(MARKED_OF_RIGHT, abs=0.01)
    assert is_marked[~is_right].mean() > 0.3


class Signatures:
    """Translates every third sentence wrongly, with a low probability."""

    def __init__(self):
        self.given = []
        self.confidence = SimpleNamespace(assign=self.given.append)
        self.fitted = []

    def fit_shortlist(self, texts, translations):
        self.fitted += zip(texts, translations, strict=True)

    def translate_with_evidence(self, texts):
        is_wrong = np.arange(len(texts)) % 3 == 0
        evidence = np.c_[np.where(is_wrong, -2.0, -0.3), np.ones([len(texts), 3])]
        evidence += RANDOM.normal(0, 0.3, evidence.shape)
        return ["No." if wrong else "A cat sleeps here." for wrong in is_wrong], evidence


@pytest.mark.parametrize("number, is_calibrated", [(0, False), (40, False), (3200, True)])
def test_a_model_is_calibrated_where_there_are_enough_sentences(number, is_calibrated):
    signatures = Signatures()
    calibration = Calibration([Example("猫", ("A cat sleeps here.",))] * number)
    calibration(signatures)
    assert signatures.fitted == [("猫", "A cat sleeps here.")] * min(number, 1500)
    assert len(signatures.given) == bool(calibration.details) == is_calibrated
    if is_calibrated:
        assert calibration.details["marked right translations"] == f"{MARKED_OF_RIGHT:.0%}"
        assert calibration.details["validation sentences"] == "1500"
