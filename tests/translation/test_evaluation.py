import dataclasses
import json
from collections import namedtuple
from pathlib import Path

import pytest

from keras_attn.translation.evaluation import TRANSLATIONS, Report, Sample, evaluate
from keras_attn.translation.scores import Scores
from keras_attn.translation.splits import Example


def examples(count):
    return [Example(f"文{i}", (f"the sentence number {i} here",)) for i in range(count)]


def upper_case_odd(texts):
    good = [f"the sentence number {text[1:]} here" for text in texts]
    return [text.upper() if i % 2 else text for i, text in enumerate(good)]


def test_evaluation_translates_scores_and_shows_evenly_spaced_samples():
    report = evaluate(upper_case_odd, examples(23), "en", num_samples=5)
    assert report.num_sentences == 23
    assert [sample.source for sample in report.samples] == ["文0", "文4", "文9", "文13", "文18"]
    assert report.samples[2] == Sample(
        "文9", "THE SENTENCE NUMBER 9 HERE", "the sentence number 9 here"
    )
    assert 40 < report.scores.bleu < 70
    assert report.seconds >= 0


def test_report_shows_the_best_the_worst_and_scores_by_length():
    long = Example("長い" * 30, ("a sentence of some length is here for you",))
    report = evaluate(upper_case_odd, [*examples(8), long], "en")
    assert report.best[0].translation == report.best[0].reference
    assert report.worst[0].translation.isupper()
    assert [(group.characters, group.sentences) for group in report.by_length] == [
        ("1 to 10", 8),
        ("41 to 80", 1),
    ]
    assert len(report.translations) == 9


def test_report_compares_with_an_earlier_one_of_the_same_sentences(tmp_path):
    folder = tmp_path / "1"
    folder.mkdir()
    evaluate(upper_case_odd, examples(30), "en").write(folder)
    assert len((folder / TRANSLATIONS).read_text(encoding="utf-8").splitlines()) == 30

    def all_good(texts):
        return [f"the sentence number {text[1:]} here" for text in texts]

    found = evaluate(all_good, examples(30), "en", baseline=folder)
    assert found.comparison.baseline == "version 1"
    assert found.comparison.gain > 20 and found.comparison.p_value < 0.05
    assert "against version 1" in found.summary()
    other = evaluate(all_good, examples(29), "en", baseline=folder)
    assert other.comparison is None
    assert evaluate(all_good, examples(3), "en", baseline=tmp_path).comparison is None


def test_fewer_examples_than_samples_are_all_shown():
    assert len(evaluate(upper_case_odd, examples(3), "en").samples) == 3


def test_a_translator_that_loses_a_line_is_refused():
    with pytest.raises(ValueError, match="one translation for each text. Received: 2 for 3"):
        evaluate(lambda texts: texts[1:], examples(3), "en")


def report_with(*samples, **details):
    scores = Scores(41.257, 1.5, "nrefs:1|tok:13a", 63.0, "nrefs:1|nc:6", 44.0, "nrefs:1|case:lc")
    return Report(scores, 1771, 12.5, list(samples), details=details)


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
    assert text.startswith("# Evaluation\n\n- BLEU 41.3 ± 1.5 (nrefs:1\\|tok:13a)\n- chrF 63.0 (")
    assert "- 1,771 sentences translated in 12.5 s\n- Credit: Somebody\n" in text
    assert (
        "| source | translation | reference |\n| --- | --- | --- |\n| これ | this | that |" in text
    )
    assert "\n## Corpus\n\n- Too long: 12,345\n" in text
    assert "\n## Training\n\n- Epochs: 2.5\n" in text
    assert "X:" not in text


def test_the_markdown_report_shows_how_training_went(tmp_path):
    Reached = namedtuple("Reached", ["step", "bleu"])
    (tmp_path / "learning.png").touch()
    history = [Reached(1000, 12.5), Reached(2000, 20.25)]
    dataclasses.replace(report_with(), history=history).write(tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| step | bleu |\n| --- | --- |\n| 1,000 | 12.5 |\n| 2,000 | 20.25 |\n" in text
    assert "![Learning](learning.png)" in text and "attention.png" not in text


def test_text_of_users_stays_text_in_markdown(tmp_path):
    hostile = "a|b\n# c <script>`d`</script> [e](f) *g* \\| &amp;"
    report_with(Sample(hostile, "", "x"), note=hostile).write(tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    escaped = r"a\|b # c \<script\>\`d\`\</script\> \[e\](f) \*g\* \\\| \&amp;"
    assert f"| {escaped} |  | x |\n" in text
    assert f"- Note: {escaped}\n" in text


def test_the_summary_shows_samples_and_scores_with_signatures():
    lines = report_with(Sample("これ", "this", "that")).summary().splitlines()
    assert [line.strip() for line in lines[1:4]] == ["これ", "= this", "~ that"]
    assert "BLEU 41.3 ± 1.5 (nrefs:1|tok:13a)" in lines
    assert "chrF 63.0 (nrefs:1|nc:6)" in lines
