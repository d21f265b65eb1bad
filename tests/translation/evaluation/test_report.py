from keras_attn.translation.evaluation.exactness import Exactness, Share
from keras_attn.translation.evaluation.metrics import Scores
from keras_attn.translation.evaluation.report import Report, Sample


def report_with(*samples, **details):
    scores = Scores(41.257, 1.5, "nrefs:1|tok:13a", 63.0, "nrefs:1|nc:6", 44.0, "nrefs:1|case:lc")
    found = Exactness(Share(931, 1000), Share(0, 0))
    return Report(scores, found, 1771, 12.5, list(samples), details=details)


def test_the_summary_shows_scores_first_and_no_signature():
    summary = report_with(Sample("これ", "this", "that")).summary()
    assert summary.splitlines() == [
        "BLEU 41.3 ± 1.5",
        "chrF 63.0",
        "TER 44.0",
        "Number accuracy 93.1% (1,000 sentences)",
        "Copy accuracy n/a (0 sentences)",
        "1,771 sentences translated in 12.5 s",
        "Samples (= translation, ~ reference):",
        "  これ",
        "    = this",
        "    ~ that",
    ]
