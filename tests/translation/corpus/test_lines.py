import io

import pytest

from keras_attn.translation.corpus.lines import utf8_lines

TEXT = "川\tRiver.\n\n《山》\tMountain.\n"
LINES = ["川\tRiver.", "", "《山》\tMountain."]


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        TEXT.replace("\n", "\r").rstrip("\r").encode("utf-8-sig"),
        b"\xff\xfe" + TEXT.encode("utf-16-le"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        b"\xff\xfe" + TEXT.replace("\n", "\r").encode("utf-16-le"),
        b"\xff\xfe" + TEXT.replace("\n", "\r\n").encode("utf-16-le"),
    ],
)
def test_the_same_text_has_the_same_lines(content):
    assert [line.decode() for line in utf8_lines(io.BytesIO(content))] == LINES


def test_a_cr_within_lines_that_end_in_lf_is_a_character():
    assert list(utf8_lines([b"a\rb\n", b"c\rd"])) == [b"a\rb", b"c\rd"]


def test_bytes_of_no_encoding_stay_in_their_lines():
    content = b"\xff\xfe\t\nab\n\xe5\xb7"
    assert list(utf8_lines(io.BytesIO(content))) == content.split(b"\n")
    half = b"\xff\xfea\0\n\0b"
    assert list(utf8_lines(io.BytesIO(half))) == [b"a", "\ufffd".encode()]


def test_no_bytes_are_no_lines():
    assert list(utf8_lines([])) == []


def test_a_line_is_there_before_the_next_is_read():
    def given():
        yield b"a\n"
        raise AssertionError("read too early")

    assert next(utf8_lines(given())) == b"a"
