import io

from keras_attn.translation.line_filter import answer_lines


def test_a_line_that_is_not_utf8_is_told_of_once_and_answered_in_its_place(capsys):
    output = io.BytesIO()
    lines = [b"a\r\n", "猫".encode("cp932") + b"b\n", b"\xff\n", "\ufffdc".encode()]
    answer_lines(lambda texts: [text.upper() for text in texts], lines, output)
    answers = output.getvalue().decode().split("\n")
    assert answers[0] == "A" and answers[1].endswith("B") and answers[3:] == ["\ufffdC", ""]
    assert capsys.readouterr().err == (
        "warning: line 2 is not UTF-8; invalid bytes are read as U+FFFD.\n"
    )
