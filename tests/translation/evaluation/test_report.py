import dataclasses
import json
from collections import namedtuple
from pathlib import Path

import pytest

from keras_attn.translation.evaluation.exactness import Exactness, Share
from keras_attn.translation.evaluation.metrics import Scores
from keras_attn.translation.evaluation.report import (
    TRANSLATIONS,
    Report,
    Sample,
    SetScores,
    check_baseline,
    earlier_translations,
)


def report_with(*samples, **details):
    scores = Scores(41.257, 1.5, "nrefs:1|tok:13a", 63.0, "nrefs:1|nc:6", 44.0, "nrefs:1|case:lc")
    found = Exactness(Share(931, 1000), Share(0, 0))
    return Report(scores, found, 1771, 12.5, list(samples), details=details)


def test_the_json_report_holds_everything(tmp_path):
    sample = Sample("文|", "translation", "reference")
    details = {"corpus": {"read": 307}, "credit": "Somebody", "where": Path("x")}
    report_with(sample, **details).write(tmp_path)
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


def test_the_markdown_report_reads_well(tmp_path):
    sample = Sample("これ", "this", "that")
    report_with(
        sample, credit="Somebody", corpus={"too_long": 12345}, training={"epochs": 2.5, "x": ""}
    ).write(tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# Evaluation\n\n- BLEU 41.3 ± 1.5\n- chrF 63.0\n")
    assert "\n- BLEU: `nrefs:1|tok:13a`\n- chrF: `nrefs:1|nc:6`\n" in text
    assert "- 1,771 sentences translated in 12.5 s\n- Credit: Somebody\n" in text
    assert (
        "| source | translation | reference |\n| --- | --- | --- |\n| これ | this | that |" in text
    )
    assert "\n## Corpus\n\n- Too long: 12,345\n" in text
    assert "\n## Training\n\n- Epochs: 2.5\n" in text
    assert "X:" not in text


def test_the_markdown_report_shows_how_training_went(tmp_path):
    EpochRecord = namedtuple("EpochRecord", ["step", "bleu"])
    (tmp_path / "learning.png").touch()
    history = [EpochRecord(1000, 12.5), EpochRecord(2000, 20.25)]
    dataclasses.replace(report_with(), history=history).write(tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| step | bleu |\n| --- | --- |\n| 1,000 | 12.5 |\n| 2,000 | 20.25 |\n" in text
    assert "![Learning](learning.png)" in text and "attention.png" not in text


def test_each_set_of_sentences_has_its_own_scores_under_its_name(tmp_path):
    report = report_with()
    parts = [SetScores(name, 1200, report.scores, report.exactness) for name in ("a_b", "c")]
    dataclasses.replace(report, by_corpus=parts[:1], held_out=parts[1:]).write(tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    scores = (
        "1,200 sentences: BLEU 41.3 ± 1.5, chrF 63.0, "
        "number accuracy 93.1% (1,000 sentences), copy accuracy n/a (0 sentences)\n"
    )
    assert rf"- a\_b, {scores}- Held out, c, {scores}" in text
    assert "\n- BLEU, c: `nrefs:1|tok:13a`\n" in text
    record = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    (held_out,) = record["held_out"]
    assert (held_out["name"], held_out["num_sentences"]) == ("c", 1200)
    assert held_out["scores"]["chrf_signature"] == "nrefs:1|nc:6"
    assert held_out["exactness"]["numbers"] == {"right": 931, "sentences": 1000}
    assert [part["name"] for part in record["by_corpus"]] == ["a_b"]


def test_text_of_users_stays_text_in_markdown(tmp_path):
    hostile = "a|b\n# c <script>`d`</script> [e](f) *g* \\| &amp;"
    report_with(Sample(hostile, "", "x"), note=hostile).write(tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    escaped = r"a\|b # c \<script\>\`d\`\</script\> \[e\](f) \*g\* \\\| \&amp;"
    assert f"| {escaped} |  | x |\n" in text
    assert f"- Note: {escaped}\n" in text


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
