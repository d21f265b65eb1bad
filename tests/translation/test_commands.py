import dataclasses
import io
import json
import os
import re
import sys
import warnings

import pytest

from keras_attn.__main__ import COMMANDS, main
from keras_attn.cli import parse
from keras_attn.translation.config import Config
from keras_attn.translation.evaluation.evaluate import TRANSLATIONS
from keras_attn.translation.export.translator import Hypothesis, Translator


class Shouting:
    """A translator that answers in capitals and is not sure of texts with a question mark.

    A text that begins with ~ is in another language. A log probability is the length of both texts.
    """

    config = Config()

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, texts, glossary=None):
        for term, translation in (glossary or {}).items():
            texts = [text.replace(term, translation) for text in texts]
        return [text.upper() for text in texts]

    def nbest(self, texts):
        return [[Hypothesis(text.upper(), 0.0, "?" in text, text[:1] == "~")] for text in texts]

    def score(self, texts, translations):
        return [-len(a) - len(b) / 10 for a, b in zip(texts, translations, strict=True)]


@pytest.fixture(autouse=True)
def shouting(monkeypatch, tmp_path):
    translator = Shouting(tmp_path / "1")
    translator.folder.mkdir()
    monkeypatch.setattr(Translator, "load", lambda path: translator)
    return translator


def test_given_texts_are_translated_in_their_order_with_their_lines(capfd):
    assert main(["translate", "model", "猫 a", "", "two\nlines"]) == 0
    assert main(["translate", "model", "--mark-uncertain", "a", "b?"]) == 0
    assert capfd.readouterr() == ("猫 A\n\nTWO\nLINES\n" + "A\n? B?\n", "")
    assert main(["translate", "model", "--mark-uncertain", "a?", "~b", "~c"]) == 0
    said = "2 texts are not in Japanese and are returned as given: 2, 3.\n"
    assert capfd.readouterr() == ("? A?\n~B\n~C\n", said)


def test_a_terminal_is_told_of_other_languages_and_uncertain_translations(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("猫?\n~a\n".encode())))
    assert main(["translate", "model"]) == 0
    assert capsys.readouterr().err == (
        "1 line is not in Japanese and is returned as given: 2.\n"
        "1 line has an uncertain translation: 1.\n"
    )


def test_terms_are_translated_as_given_or_refused(tmp_path, capfd):
    path = tmp_path / "terms.tsv"
    path.write_text("猫\ta cat\n\n木村\tKimura\n", encoding="utf-8")
    terms = ["--glossary", str(path), "--term", "犬=a dog", "--term", "x=y=z", "--term", "鳥"]
    assert main(["translate", "model", *terms, "猫 犬 鳥 x"]) == 0
    assert capfd.readouterr().out == "A CAT A DOG 鳥 Y=Z\n"
    for flags, sentence in (
        (["--term", "=y"], "A term of the glossary must not be empty."),
        (["--term", "a=b", "--mark-uncertain"], "must be given without a glossary"),
        (["--glossary", "no/such.tsv"], "no/such.tsv"),
    ):
        assert main(["translate", "model", *flags, "猫"]) == 2
        assert sentence in capfd.readouterr().err


@pytest.mark.parametrize(
    ("command", "answers"), [("translate", ["猫\tA", "犬だ\tB"]), ("score", ["-1.1000", "-2.1000"])]
)
def test_somebody_who_types_gets_each_answer_before_the_next_line(monkeypatch, command, answers):
    output = io.BytesIO()
    seen = []

    class Keyboard(io.BytesIO):
        def read1(self, size):
            seen.append(output.getvalue().decode())
            return self.readline()

        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Keyboard("猫\ta\n犬だ\tb\n".encode())))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output))
    assert main([command, "model"]) == 0
    first, second = (f"{answer}\n" for answer in answers)
    assert seen == ["", first, first + second]


def test_flags_of_train_are_the_fields_of_a_trainer_and_the_common_ones_fit_on_a_screen(
    capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "120")
    pages = []
    for option in ("--help", "--help-all"):
        with pytest.raises(SystemExit):
            main(["train", option])
        pages.append(capsys.readouterr().out)
    assert pages[0].count("\n  --") <= 24 and pages[0].count("\n") <= 50
    assert "--newton-schulz-steps" not in pages[0]
    fields = [field.name for field in dataclasses.fields(Config) if field.metadata["has_flag"]]
    flags = {f"--{name.replace('_', '-')}" for name in fields}
    flags |= {"--version", "--help-all", "--out", "--tensorboard", "--model-devices"}
    assert set(re.findall(r"^  (--[a-z0-9-]+)", pages[1], re.MULTILINE)) == flags
    line = "train --num-heads 8 --shared-vocab --sampled-share 0.5".split()
    _, found, _ = parse(line, COMMANDS)
    given = {"num_heads": 8, "shared_vocab": True, "sampled_softmax_fraction": 0.5}
    assert found == {"out": None, "tensorboard": None, "model_devices": 1, **given}
    assert "warning: --sampled-share is now called" in capsys.readouterr().err


def test_a_text_may_follow_a_flag():
    _, found, _ = parse(["translate", "model", "a", "--mark-uncertain", "b"], COMMANDS)
    assert found["texts"] == ["a", "b"]


def test_ctrl_c_is_quiet_and_a_warning_of_loading_is_a_sentence(monkeypatch, capsys):
    def interrupt(path):
        raise KeyboardInterrupt

    def warn(path):
        warnings.warn("newer folders are incomplete.", stacklevel=1)
        raise ValueError("There is no model.")

    monkeypatch.setattr(Translator, "load", interrupt)
    assert main(["translate", "model"]) == 130
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(Translator, "load", warn)
    assert main(["translate", "model"]) == 2
    assert capsys.readouterr().err == (
        "warning: newer folders are incomplete.\nerror: There is no model.\n"
    )


@pytest.fixture
def type_in(monkeypatch):
    """`type_in(content)`: standard input holds these bytes."""

    def type_in(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return type_in


def test_lines_of_other_systems_are_translated_one_by_one(type_in, capfdbinary):
    for content in (
        "猫 a\r犬 b\r".encode(),
        "猫 a\r\n犬 b\r\n".encode("utf-16"),
        "猫 a\n犬 b".encode("utf-8-sig"),
    ):
        type_in(content)
        assert main(["translate", "model"]) == 0
        out, err = capfdbinary.readouterr()
        assert (out.decode(), err) == ("猫 A\n犬 B\n", b""), content


def test_score_ignores_further_columns_and_tells_once_of_columns_that_look_swapped(type_in, capfd):
    type_in("猫だ\ta cat\tCC0\tsomebody\n猫だ\ta cat\n猫\n".encode())
    assert main(["score", "model"]) == 0
    assert capfd.readouterr() == ("-2.5000\n-2.5000\n-1.0000\n", "")
    type_in("a cat\t猫\n".encode() * 2000)
    assert main(["score", "model"]) == 0
    out, err = capfd.readouterr()
    assert out.count("\n") == 2000
    assert err.startswith("warning: The columns look swapped: they must be `ja` TAB `en`.")
    assert err.count("\n") == 1


@pytest.fixture
def test_set(tmp_path):
    path = tmp_path / "test.tsv"
    lines = [f"猫{i}\ta cat number {i}\tCC0\tsomebody" for i in range(9)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def evaluate(test_set, *options):
    return main(["evaluate", "model", str(test_set), "--all", *map(str, options)])


def test_evaluate_ignores_further_columns_and_refuses_a_baseline_of_other_sentences(
    test_set, tmp_path, capfd
):
    assert evaluate(test_set, "--baseline", tmp_path / "none") == 2
    out, err = capfd.readouterr()
    assert err.startswith("error: The baseline must be") and not out
    assert evaluate(test_set, "--out", tmp_path / "report") == 0
    assert "9 sentences translated" in capfd.readouterr().out
    text = (tmp_path / "report" / TRANSLATIONS).read_text(encoding="utf-8")
    assert text.splitlines()[0] == "猫0\t猫0\ta cat number 0"
    assert evaluate(test_set, "--baseline", tmp_path / "report") == 0
    assert "BLEU +0.0 against" in capfd.readouterr().out
    test_set.write_text("a dog\t犬\n", "utf-8")
    assert evaluate(test_set) == 0
    assert "warning: The columns look swapped" in capfd.readouterr().err
    assert evaluate(test_set, "--baseline", tmp_path / "report") == 2
    assert "of other sentences" in capfd.readouterr().err


def test_a_reader_who_leaves_is_no_error_and_the_report_is_written(
    type_in, test_set, tmp_path, monkeypatch, capsys
):
    type_in(b"a\tb\n" * 5000)
    evaluation = ["evaluate", "model", str(test_set), "--all", "--out", str(tmp_path / "report")]
    for command in (["score", "model"], evaluation):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "w") as output:
            monkeypatch.setattr(sys, "stdout", output)
            assert main(command) == 1
    assert "error" not in capsys.readouterr().err
    assert (tmp_path / "report" / "report.json").is_file()


def test_scores_are_printed_when_the_report_cannot_be_written(test_set, tmp_path, capfd):
    (tmp_path / "report" / "report.json").mkdir(parents=True)
    assert evaluate(test_set, "--out", tmp_path / "report") == 2
    out, err = capfd.readouterr()
    assert "9 sentences translated" in out and "error: " in err


def test_inspect_prints_the_report_and_does_without_a_damaged_one(shouting, capfd):
    path = shouting.folder / "report.json"
    scores = {"bleu": 1.5, "bleu_signature": "s", "chrf": 2.5, "chrf_signature": "t"}
    report = {"scores": scores, "details": {"corpus": {"read": 3}, "credit": "Somebody"}}
    path.write_text(json.dumps(report))
    assert main(["inspect", "model"]) == 0
    out = capfd.readouterr().out
    for line in ("BLEU: 1.5 (s)", "chrF: 2.5 (t)", "corpus, read: 3", "credit: Somebody"):
        assert f"{line}\n" in out
    for content in ("", "[]", "{}", '{"scores": {"bleu": "x"}, "details": 3}'):
        path.write_text(content)
        assert main(["inspect", "model"]) == 0
        out, err = capfd.readouterr()
        assert "num hiddens: 256" in out and "BLEU" not in out
        assert err.startswith("warning: `") and err.endswith("is not a report and is left out.\n")
