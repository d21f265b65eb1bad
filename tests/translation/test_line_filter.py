import io
import os
from concurrent.futures import ThreadPoolExecutor

from keras_attn.translation.line_filter import ArrivingLines, answer_lines


def test_a_line_that_is_not_utf8_is_told_of_once_and_answered_in_its_place(capsys):
    output = io.BytesIO()
    lines = [b"a\r\n", "猫".encode("cp932") + b"b\n", b"\xff\n", "\ufffdc".encode()]
    stream = ArrivingLines(io.BytesIO(b"".join(lines)))
    answer_lines(lambda texts: [text.upper() for text in texts], stream, output)
    answers = output.getvalue().decode().split("\n")
    assert answers[0] == "A" and answers[1].endswith("B") and answers[3:] == ["\ufffdC", ""]
    assert capsys.readouterr().err == (
        "warning: line 2 is not UTF-8; invalid bytes are read as U+FFFD.\n"
    )


def test_a_line_in_a_pipe_that_stays_open_is_answered_at_once():
    sizes, (reads, sends), (receives, writes) = [], os.pipe(), os.pipe()

    def answer(texts):
        sizes.append(len(texts))
        return [f"{text}!" for text in texts]

    with open(reads, "rb") as stream, open(writes, "wb") as output, open(receives, "rb") as found:
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(answer_lines, answer, ArrivingLines(stream), output)
            with open(sends, "wb", buffering=0) as pipe:
                for part, answers in ((b"a\n", [b"a!\n"]), (b"b\nc\nd", [b"b!\n", b"c!\n"])):
                    pipe.write(part)
                    assert [found.readline() for _ in answers] == answers
            done.result(10)
        assert found.readline() == b"d!\n"
    assert sizes == [1, 2, 1]


def test_lines_of_a_file_are_processed_together():
    sizes, output = [], io.BytesIO()

    def answer(texts):
        sizes.append(len(texts))
        return texts

    answer_lines(answer, ArrivingLines(io.BytesIO(b"\n".join([b"a"] * 1000))), output)
    assert sizes == [512, 487, 1] and output.getvalue() == b"a\n" * 1000
