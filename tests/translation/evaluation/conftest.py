import pytest

from keras_attn.translation.evaluation.exactness import Exactness, Share
from keras_attn.translation.evaluation.metrics import Scores
from keras_attn.translation.evaluation.report import Report

SCORES = Scores(41.257, 1.5, "nrefs:1|tok:13a", 63.0, "nrefs:1|nc:6", 44.0, "nrefs:1|case:lc")


@pytest.fixture
def report_with():
    """`report_with(*samples, **details)`: a report of always the same scores."""

    def report_with(*samples, **details):
        found = Exactness(Share(931, 1000), Share(0, 0))
        return Report(SCORES, found, 1771, 12.5, list(samples), details=details)

    return report_with
