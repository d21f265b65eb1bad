import dataclasses
import json
from pathlib import Path

import pytest

from keras_attn.translation.evaluation.exactness import Exactness, Share
from keras_attn.translation.evaluation.metrics import Scores
from keras_attn.translation.evaluation.report import Report, Sample, SetScores
from keras_attn.translation.evaluation.report_files import (
    TRANSLATIONS,
    check_baseline,
    earlier_translations,
    write,
)


def report_with(*samples, **details):
    scores = Scores(41.257, 1.5, "nrefs:1|tok:13a", 63.0, "nrefs:1|nc:6", 44.0, "nrefs:1|case:lc")
    found = Exactness(Share(931, 1000), Share(0, 0))
    return Report(scores, found, 1771, 12.5, list(samples), details=details)


def test_the_json_report_holds_everything(tmp_path):
    sample = Sample("文|", "translation", "reference")
    details = {"corpus": {"read": 307}, "credit": "Somebody", "where": Path("x")}
    write(report_with(sample, **details), tmp_path)
    text = (tmp_path / "report.json").read_text(encoding="utf-8")
    assert "文|" in text
    record = json.loads(text)
    assert record["scores"]["bleu"] == 41.257
    assert record["scores"]["bleu_signature"] == "nrefs:1|tok:13a"
    assert record["num_sentences"] == 1771
    assert record["samples"] == [
        {"source": "文|", "translation": "translation", "reference": "reference"}
    ]
    assert record["details"] == {"corpus": {"read": 307}, "credit": "Somebody", "where": "x"}


def test_the_json_report_holds_the_scores_of_each_test_set(tmp_path):
    report = report_with()
    held_out = [SetScores("c", 1200, report.scores, report.exactness)]
    write(dataclasses.replace(report, held_out=held_out), tmp_path)
    (found,) = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["held_out"]
    assert (found["name"], found["num_sentences"]) == ("c", 1200)
    assert found["scores"]["chrf_signature"] == "nrefs:1|nc:6"
    assert found["exactness"]["numbers"] == {"right": 931, "sentences": 1000}


def test_a_baseline_is_of_the_same_sentences(tmp_path):
    with pytest.raises(ValueError, match="The baseline must be .*tsv`, which does not"):
        check_baseline(tmp_path, ["猫 が"])
    path = tmp_path / TRANSLATIONS
    path.write_text("猫 が\ta cat\tcats\n", encoding="utf-8")
    check_baseline(tmp_path, ["猫　が "])
    with pytest.raises(ValueError, match="same sentences, .* of other sentences."):
        check_baseline(tmp_path, ["犬"])


@pytest.mark.parametrize("content", [b"", b"\xff", "猫".encode(), "猫\ta\tb\n犬".encode()])
def test_a_damaged_file_of_translations_is_no_baseline(tmp_path, content):
    (tmp_path / TRANSLATIONS).write_bytes(content)
    assert earlier_translations(tmp_path, ["猫"]) is None
    assert earlier_translations(tmp_path, ["猫", "犬"]) is None
