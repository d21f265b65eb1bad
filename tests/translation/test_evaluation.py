import json
import math
from pathlib import Path

import pytest

from keras_attn.translation.evaluation import Report, Sample, Scores, evaluate, score
from keras_attn.translation.splits import Example


def test_bleu_agrees_with_a_calculation_by_hand():
    # Matches of n-grams: 5/6, 3/5, 2/4, 1/3; as long as the reference, so no brevity penalty.
    found = score(["a b c d x f"], [("a b c d e f",)], "en")
    precisions = [5 / 6, 3 / 5, 2 / 4, 1 / 3]
    expected = 100 * math.exp(sum(map(math.log, precisions)) / 4)
    assert found.bleu == pytest.approx(expected, abs=1e-6)


def test_short_translations_pay_the_brevity_penalty():
    found = score(["a b c d e"], [("a b c d e f g",)], "en")
    assert found.bleu == pytest.approx(100 * math.exp(1 - 7 / 5), abs=1e-6)


def test_any_of_several_references_counts_and_their_number_may_vary():
    hypotheses = ["one two three four five", "six seven eight nine ten"]
    references = [("something else", "one two three four five"), ("six seven eight nine ten",)]
    found = score(hypotheses, references, "en")
    assert found.bleu == pytest.approx(100)
    assert found.chrf == pytest.approx(100)
    assert "nrefs:var" in found.bleu_signature
    assert score(hypotheses, [row[:1] for row in references], "en").bleu < 60


def test_japanese_is_scored_by_characters_and_signatures_say_so():
    found = score(["箱の中に本がある"], [("箱の上に本がある",)], "ja")
    assert found.bleu > 30
    assert "tok:char" in found.bleu_signature and "version:" in found.bleu_signature
    assert "tok:13a" in score(["a"], [("a",)], "en").bleu_signature
    assert "tok:char" in score(["a"], [("a",)], "ja-JP").bleu_signature
    assert found.chrf_signature.startswith("nrefs:1") and "nc:6" in found.chrf_signature


def test_empty_translations_score_nothing():
    assert score(["", ""], [("a b c d",), ("e",)], "en").bleu == 0


@pytest.mark.parametrize(
    ("hypotheses", "references"), [([], []), (["a"], []), (["a", "b"], [("a",), ()])]
)
def test_hypotheses_without_references_are_refused(hypotheses, references):
    with pytest.raises(ValueError, match="at least one reference for each. Received:"):
        score(hypotheses, references, "en")


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


def test_fewer_examples_than_samples_are_all_shown():
    assert len(evaluate(upper_case_odd, examples(3), "en").samples) == 3


def test_a_translator_that_loses_a_line_is_refused():
    with pytest.raises(ValueError, match="one translation for each text. Received: 2 for 3"):
        evaluate(lambda texts: texts[1:], examples(3), "en")


def report_with(*samples, **details):
    scores = Scores(41.257, "nrefs:1|tok:13a", 63.0, "nrefs:1|nc:6")
    return Report(scores, 1771, 12.5, list(samples), details)


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
    assert text.startswith("# Evaluation\n\n- BLEU 41.3 (nrefs:1\\|tok:13a)\n- chrF 63.0 (")
    assert "- 1,771 sentences translated in 12.5 s\n- Credit: Somebody\n" in text
    assert (
        "| source | translation | reference |\n| --- | --- | --- |\n| これ | this | that |" in text
    )
    assert "\n## Corpus\n\n- Too long: 12,345\n" in text
    assert "\n## Training\n\n- Epochs: 2.5\n" in text
    assert "X:" not in text


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
    assert "BLEU 41.3 (nrefs:1|tok:13a)" in lines
    assert "chrF 63.0 (nrefs:1|nc:6)" in lines
