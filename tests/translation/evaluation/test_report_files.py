import dataclasses
import json
from pathlib import Path

import pytest

from keras_attn.translation.evaluation import report_files
from keras_attn.translation.evaluation.report import Sample, SetScores
from keras_attn.translation.evaluation.report_files import check_baseline, earlier_translations


def test_the_summary_shows_scores_first_and_no_signature(report_with):
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


def test_the_json_report_holds_everything(report_with, tmp_path):
    details = {"corpus": {"read": 307}, "credit": "Somebody", "where": Path("x")}
    report = report_with(Sample("文|", "translation", "reference"), **details)
    held_out = [SetScores("c", 1200, report.scores, report.exactness)]
    report_files.write(dataclasses.replace(report, held_out=held_out), tmp_path)
    text = (tmp_path / "report.json").read_text(encoding="utf-8")
    assert "文|" in text
    record = json.loads(text)
    assert record["scores"]["bleu"] == 41.257
    assert record["scores"]["bleu_signature"] == "nrefs:1|tok:13a"
    assert record["num_sentences"] == 1771
    sample = {"source": "文|", "translation": "translation", "reference": "reference"}
    assert record["samples"] == [sample]
    assert record["details"] == {"corpus": {"read": 307}, "credit": "Somebody", "where": "x"}
    (found,) = record["held_out"]
    assert (found["name"], found["num_sentences"]) == ("c", 1200)
    assert found["scores"]["chrf_signature"] == "nrefs:1|nc:6"
    assert found["exactness"]["numbers"] == {"right": 931, "sentences": 1000}


def test_a_baseline_is_of_the_same_sentences_and_whole(tmp_path):
    with pytest.raises(ValueError, match="The baseline must be .*tsv`, which does not"):
        check_baseline(tmp_path, ["猫 が"])
    path = tmp_path / report_files.TRANSLATIONS
    path.write_text("猫 が\ta cat\tcats\n", encoding="utf-8")
    check_baseline(tmp_path, ["猫　が "])
    with pytest.raises(ValueError, match="same sentences, .* of other sentences."):
        check_baseline(tmp_path, ["犬"])
    for content in (b"", b"\xff", "猫".encode(), "猫\ta\tb\n犬".encode()):
        path.write_bytes(content)
        assert earlier_translations(tmp_path, ["猫"]) is None, content
        assert earlier_translations(tmp_path, ["猫", "犬"]) is None, content
