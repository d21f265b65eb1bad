import dataclasses
import re

from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import REASONS
from keras_attn.translation.evaluation.markdown import LEGEND, readable, report_lines
from keras_attn.translation.evaluation.metrics import Comparison
from keras_attn.translation.evaluation.report import EpochRecord, Sample, SetScores


def markdown(report, folder):
    return "\n".join(report_lines(report, folder)) + "\n"


def test_every_reason_and_column_has_a_name_and_values_have_digits_that_tell_something():
    assert set(REASONS) <= set(LEGEND["corpus"])
    for name, value, text in (
        ("epochs", 71.428, "71.4"),
        ("seconds", 52.8743, "53"),
        ("step", 12345, "12,345"),
        ("learning_rate", 0.0008, "0.0008"),
        ("gated", False, "no"),
        ("data", "a_b", "a_b"),
    ):
        assert readable(name, value) == text


def test_scores_come_first_with_their_meaning(report_with, tmp_path):
    text = markdown(report_with(credit="Somebody"), tmp_path)
    assert text.startswith(
        "# Evaluation\n\n| score | value | meaning |\n| --- | --- | --- |\n"
        "| BLEU | 41.3 ± 1.5 | matching word sequences, from 0 to 100; "
    )
    assert "\n| number accuracy | 93.1% (1,000 sentences) | sentences with digits " in text
    assert "\n- 1,771 sentences translated in 12.5 s\n- Credit: Somebody\n" in text


def test_the_worst_translations_come_before_the_others(report_with, tmp_path):
    samples = {name: [Sample(name, name, name)] for name in ("worst", "samples", "best")}
    text = markdown(dataclasses.replace(report_with(), **samples), tmp_path)
    rows = re.findall(r"^\| (\w+) \| \1 \| \1 \|$", text, re.MULTILINE)
    assert rows == ["worst", "samples", "best"]


def test_names_are_spelled_out_zeros_left_out_and_digits_sensible(report_with, tmp_path):
    report = report_with(
        corpus={"read": 92881, "too_long": 0, "odd_lengths": 1},
        training={"epochs": 2.53771, "tokens_per_second": 8405.91, "x": ""},
        configuration=vars(Config(num_hiddens=128)),
    )
    text = markdown(report, tmp_path)
    assert "| pairs read | 92,881 |\n| left out: lengths that fit no translation | 1 |\n" in text
    assert "500 characters" not in text
    assert "| epochs | 2.5 |\n" in text and "| 8,406 |\n" in text and "| x |" not in text
    assert "| --num-hiddens | 128 | width of the model |\n" in text
    assert "| --learning-rate | 0.004 | " in text and "| --gated | no | " in text


def test_it_shows_how_training_went(report_with, tmp_path):
    (tmp_path / "learning.png").touch()
    history = [EpochRecord(1000, 61.254, 5.12345, 12.5), EpochRecord(2000, 122.9, 4.5, 20.25)]
    text = markdown(dataclasses.replace(report_with(), history=history), tmp_path)
    assert (
        "| validation | batches | seconds | training loss | validation BLEU |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| 1 | 1,000 | 61 | 5.123 | 12.5 |\n| 2 | 2,000 | 123 | 4.500 | 20.2 |\n"
    ) in text
    assert "![Learning](learning.png)" in text and "attention.png" not in text


def test_each_test_set_has_a_row_and_its_signatures(report_with, tmp_path):
    report = report_with()
    parts = [SetScores(name, 1200, report.scores, report.exactness) for name in ("a_b", "c")]
    report = dataclasses.replace(
        report,
        by_corpus=parts[:1],
        held_out=parts[1:],
        comparison=Comparison("version 3", 40.0, 1.25, 0.0214),
    )
    text = markdown(report, tmp_path)
    row = "1,200 | 41.3 ± 1.5 | 63.0 | 44.0 | 93.1% (1,000 sentences) | n/a (0 sentences) |"
    assert f"\n| a\\_b | {row}\n| c, held out | {row}\n" in text
    assert "\n- BLEU +1.2 against version 3 (40.0), p = 0.021\n" in text
    for name in ("", ", c"):
        assert f"\n- BLEU{name}: `nrefs:1|tok:13a`\n- chrF{name}: `nrefs:1|nc:6`\n" in text


def test_text_of_users_stays_text_in_markdown(report_with, tmp_path):
    hostile = "a|b\n# c <script>`d`</script> [e](f) *g* \\| &amp;"
    text = markdown(report_with(Sample(hostile, "", "x"), note=hostile), tmp_path)
    escaped = r"a\|b # c \<script\>\`d\`\</script\> \[e\](f) \*g\* \\\| \&amp;"
    assert f"| {escaped} |  | x |\n" in text
    assert f"- Note: {escaped}\n" in text
