import json

import pytest

from keras_attn.serving.examples import FILE, NUM_EXAMPLES, read
from keras_attn.translation.versions import EXTRA


@pytest.fixture
def write(tmp_path):
    """`write(content)`: a version with these bytes as its examples."""

    def write(content):
        (tmp_path / EXTRA).mkdir()
        (tmp_path / EXTRA / FILE).write_bytes(content)
        return tmp_path

    return write


def test_sources_are_read_in_their_order(write):
    examples = [{"source": f"文{n}。", "translation": "A sentence."} for n in range(3)]
    version = write(json.dumps(examples).encode())
    assert read(version) == ["文0。", "文1。", "文2。"]


def test_no_more_are_read_than_the_page_has_room_for_and_none_that_is_blank(write):
    sources = ["", " ", *map(str, range(20))]
    version = write(json.dumps([{"source": source} for source in sources]).encode())
    assert read(version) == [str(n) for n in range(NUM_EXAMPLES)]


def test_a_version_may_bring_none(tmp_path, write):
    assert read(tmp_path) == []
    assert read(write(b"[]")) == []


@pytest.mark.parametrize(
    "content", [b"", b"[", b"\xff", b"1", b'["a"]', b'{"a": 1}', b'[{"source": 1}]', b"[" * 100_000]
)
def test_a_file_that_cannot_be_read_is_logged_and_brings_none(write, caplog, content):
    assert read(write(content)) == []
    assert "cannot be read" in caplog.text
