import io
import json
import os
import sys
import warnings

import pytest

from keras_attn.translation import __main__ as shell
from keras_attn.translation.config import Config
from keras_attn.translation.evaluation.report_files import TRANSLATIONS
from keras_attn.translation.export.translator import Hypothesis, Translator


class Shouting:
    """A model that answers each text in capitals, and is not sure of texts with a question mark."""

    def __call__(self, texts, glossary=None):
        for term, translation in (glossary or {}).items():
            texts = [text.replace(term, translation) for text in texts]
        return [text.upper() for text in texts]

    def nbest(self, texts):
        return [[Hypothesis(text.upper(), 0.0, "?" in text)] for text in texts]


@pytest.fixture
def shouting(monkeypatch):
    model = Shouting()
    monkeypatch.setattr(Translator, "load", lambda path: model)
    return model


def test_given_texts_are_translated_in_their_order_with_their_lines(shouting, capfd):
    assert shell.main(["translate", "model", "猫 a", "", "two\nlines"]) == 0
    assert capfd.readouterr().out == "猫 A\n\nTWO\nLINES\n"


def test_terms_are_translated_as_given(shouting, tmp_path, capfd):
    path = tmp_path / "terms.tsv"
    path.write_text("猫\ta cat\n\n木村\tKimura\n", encoding="utf-8")
    terms = ["--glossary", str(path), "--term", "犬=a dog", "--term", "x=y=z", "--term", "鳥"]
    assert shell.main(["translate", "model", *terms, "猫 犬 鳥 x"]) == 0
    assert capfd.readouterr().out == "A CAT A DOG 鳥 Y=Z\n"


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--term", "=y"], "A term of the glossary must not be empty."),
        (["--term", "a=b", "--mark-uncertain"], "must be given without a glossary"),
        (["--glossary", "no/such.tsv"], "no/such.tsv"),
    ],
)
def test_terms_that_cannot_be_used_are_refused(shouting, flags, sentence, capfd):
    assert shell.main(["translate", "model", *flags, "猫"]) == 2
    assert sentence in capfd.readouterr().err


def test_uncertain_translations_are_marked(shouting, capfd):
    assert shell.main(["translate", "model", "--mark-uncertain", "a", "b?"]) == 0
    assert capfd.readouterr().out == "A\n? B?\n"


def test_a_line_that_is_not_utf8_is_told_of_once_and_answered_in_its_place(shouting, capsys):
    output = io.BytesIO()
    lines = [b"a\r\n", "猫".encode("cp932") + b"b\n", b"\xff\n", "\ufffdc".encode()]
    shell.answer_lines(shouting, lines, output)
    answers = output.getvalue().decode().split("\n")
    assert answers[0] == "A" and answers[1].endswith("B") and answers[3:] == ["\ufffdC", ""]
    assert capsys.readouterr().err == (
        "warning: line 2 is not UTF-8; invalid bytes are read as U+FFFD.\n"
    )


def test_somebody_who_types_gets_each_answer_before_the_next_line(shouting):
    output = io.BytesIO()
    seen = []

    def lines():
        for line in (b"a\n", b"b\n"):
            seen.append(output.getvalue())
            yield line

    shell.answer_lines(shouting, lines(), output, at_once=1)
    assert seen == [b"", b"A\n"]


def test_ctrl_c_is_quiet(monkeypatch, capsys):
    def interrupt(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(Translator, "load", interrupt)
    assert shell.main(["translate", "model"]) == 130
    assert capsys.readouterr().err == ""


class Scoring:
    """A translator that answers in capitals; a log probability is the length of both texts."""

    config = Config()

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, texts):
        return [text.upper() for text in texts]

    def score(self, texts, translations):
        return [-len(a) - len(b) / 10 for a, b in zip(texts, translations, strict=True)]


@pytest.fixture
def scoring(monkeypatch, tmp_path):
    translator = Scoring(tmp_path / "1")
    translator.folder.mkdir()
    monkeypatch.setattr(Translator, "load", lambda path: translator)
    return translator


@pytest.fixture
def type_in(monkeypatch):
    """`type_in(content)`: standard input holds these bytes."""

    def type_in(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return type_in


@pytest.mark.parametrize(
    "content",
    [
        "猫 a\r犬 b\r".encode(),
        "猫 a\r\n犬 b\r\n".encode("utf-16"),
        "猫 a\n犬 b".encode("utf-8-sig"),
    ],
    ids=["CR", "UTF-16", "BOM"],
)
def test_lines_of_other_systems_are_translated_one_by_one(shouting, type_in, capfdbinary, content):
    type_in(content)
    assert shell.main(["translate", "model"]) == 0
    out, err = capfdbinary.readouterr()
    assert (out.decode(), err) == ("猫 A\n犬 B\n", b"")


def test_score_ignores_further_columns(scoring, type_in, capfd):
    type_in("猫だ\ta cat\tCC0\tsomebody\n猫だ\ta cat\n猫\n".encode())
    assert shell.main(["score", "model"]) == 0
    assert capfd.readouterr() == ("-2.5000\n-2.5000\n-1.0000\n", "")


def test_score_tells_once_of_columns_that_look_swapped(scoring, type_in, capfd):
    type_in("a cat\t猫\n".encode() * 2000)
    assert shell.main(["score", "model"]) == 0
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
    return shell.main(["evaluate", "model", str(test_set), "--all", *map(str, options)])


def test_evaluate_ignores_further_columns_and_writes_a_report(scoring, test_set, tmp_path, capfd):
    assert evaluate(test_set, "--out", tmp_path / "report") == 0
    assert "9 sentences translated" in capfd.readouterr().out
    text = (tmp_path / "report" / TRANSLATIONS).read_text(encoding="utf-8")
    assert text.splitlines()[0] == "猫0\t猫0\ta cat number 0"


def test_evaluate_tells_of_columns_that_look_swapped(scoring, test_set, capfd):
    lines = [line.split("\t") for line in test_set.read_text("utf-8").splitlines()]
    test_set.write_text("\n".join(f"{b}\t{a}" for a, b, *_ in lines), "utf-8")
    assert evaluate(test_set) == 0
    assert "warning: The columns look swapped" in capfd.readouterr().err


def test_evaluate_refuses_a_baseline_that_cannot_be_compared(scoring, test_set, tmp_path, capfd):
    assert evaluate(test_set, "--baseline", tmp_path / "none") == 2
    out, err = capfd.readouterr()
    assert err.startswith("error: The baseline must be") and not out
    assert evaluate(test_set, "--out", tmp_path / "report") == 0
    assert evaluate(test_set, "--baseline", tmp_path / "report") == 0
    assert "BLEU +0.0 against" in capfd.readouterr().out
    test_set.write_text("犬\ta dog\n", "utf-8")
    assert evaluate(test_set, "--baseline", tmp_path / "report") == 2
    assert "of other sentences" in capfd.readouterr().err


@pytest.fixture
def close_output(monkeypatch):
    """`close_output()`: from now on standard output is a pipe whose reader has left."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as output:
        yield lambda: monkeypatch.setattr(sys, "stdout", output)


def test_a_reader_of_scores_who_leaves_is_no_error(scoring, type_in, close_output, capsys):
    type_in(b"a\tb\n" * 5000)
    close_output()
    assert shell.main(["score", "model"]) == 1
    assert "error" not in capsys.readouterr().err


def test_a_report_is_written_when_the_reader_leaves(scoring, test_set, close_output, tmp_path):
    close_output()
    assert evaluate(test_set, "--out", tmp_path / "report") == 1
    assert (tmp_path / "report" / "report.json").is_file()


def test_scores_are_printed_when_the_report_cannot_be_written(scoring, test_set, tmp_path, capfd):
    (tmp_path / "report" / "report.json").mkdir(parents=True)
    assert evaluate(test_set, "--out", tmp_path / "report") == 2
    out, err = capfd.readouterr()
    assert "9 sentences translated" in out and "error: " in err


def test_score_at_a_terminal_answers_each_line(scoring, monkeypatch):
    output = io.BytesIO()
    seen = []

    class Keyboard(io.BytesIO):
        def __next__(self):
            seen.append(output.getvalue())
            return super().__next__()

        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Keyboard("猫\ta\n犬だ\tb\n".encode())))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output))
    assert shell.main(["score", "model"]) == 0
    assert seen == [b"", b"-1.1000\n", b"-1.1000\n-2.1000\n"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"scores": {"bleu": "x"}, "details": 3}'])
def test_inspect_does_without_a_damaged_report(scoring, capfd, content):
    (scoring.folder / "report.json").write_text(content)
    assert shell.main(["inspect", "model"]) == 0
    out, err = capfd.readouterr()
    assert "num hiddens: 256" in out and "BLEU" not in out
    assert err.startswith("warning: `") and err.endswith("is no report and is left out.\n")


def test_inspect_prints_the_report(scoring, capfd):
    scores = {"bleu": 1.5, "bleu_signature": "s", "chrf": 2.5, "chrf_signature": "t"}
    report = {"scores": scores, "details": {"corpus": {"read": 3}, "credit": "Somebody"}}
    (scoring.folder / "report.json").write_text(json.dumps(report))
    assert shell.main(["inspect", "model"]) == 0
    out = capfd.readouterr().out
    for line in ("BLEU: 1.5 (s)", "chrF: 2.5 (t)", "corpus, read: 3", "credit: Somebody"):
        assert f"{line}\n" in out


def test_a_warning_of_loading_is_a_sentence(monkeypatch, capsys):
    def load(path):
        warnings.warn("newer folders are no whole versions.", stacklevel=1)
        raise ValueError("There is no model.")

    monkeypatch.setattr(Translator, "load", load)
    assert shell.main(["translate", "model"]) == 2
    assert capsys.readouterr().err == (
        "warning: newer folders are no whole versions.\nerror: There is no model.\n"
    )
