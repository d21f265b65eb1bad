import io

from keras_attn.translation.corpus.files import utf8_lines

TEXT = "川\tRiver.\n\n《山》\tMountain.\n"


def test_the_same_text_has_the_same_lines_in_any_encoding_with_any_ends():
    for end in ("\n", "\r\n", "\r"):
        text = TEXT.replace("\n", end)
        for content in (
            text.encode(),
            text.rstrip("\r\n").encode("utf-8-sig"),
            b"\xff\xfe" + text.encode("utf-16-le"),
            b"\xfe\xff" + text.encode("utf-16-be"),
        ):
            found = [line.decode() for line in utf8_lines(io.BytesIO(content))]
            assert found == TEXT.splitlines(), content
    assert list(utf8_lines([])) == []


def test_bytes_of_no_encoding_and_a_cr_within_lines_that_end_in_lf_stay():
    assert list(utf8_lines([b"a\rb\n", b"c\rd"])) == [b"a\rb", b"c\rd"]
    content = b"\xff\xfe\t\nab\n\xe5\xb7"
    assert list(utf8_lines(io.BytesIO(content))) == content.split(b"\n")
    half = b"\xff\xfea\0\n\0b"
    assert list(utf8_lines(io.BytesIO(half))) == [b"a", "\ufffd".encode()]


def test_a_line_is_there_before_the_next_is_read():
    def given():
        yield b"a\n"
        raise AssertionError("read too early")

    assert next(utf8_lines(given())) == b"a"
