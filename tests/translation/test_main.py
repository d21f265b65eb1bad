import io

import pytest

from keras_attn.translation import __main__ as shell
from keras_attn.translation.export.translator import Translator


@pytest.fixture
def shouting(monkeypatch):
    """A model that answers each text in capitals."""
    model = lambda texts: [text.upper() for text in texts]  # noqa: E731
    monkeypatch.setattr(Translator, "load", lambda path: model)
    return model


def test_given_texts_are_translated_one_a_line(shouting, capfdbinary):
    assert shell.main(["translate", "model", "猫 a", "", "two\nlines"]) == 0
    assert capfdbinary.readouterr().out.decode() == "猫 A\n\nTWO LINES\n"


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
