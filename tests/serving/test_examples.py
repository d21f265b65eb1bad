import json

from keras_attn.serving.examples import FILE, NUM_EXAMPLES, read
from keras_attn.translation.versions import EXTRA


def test_sources_are_read_in_their_order_as_many_as_the_page_has_room_for(tmp_path, caplog):
    assert read(tmp_path) == []  # a version may bring none
    (tmp_path / EXTRA).mkdir()

    def read_from(content):
        (tmp_path / EXTRA / FILE).write_bytes(content)
        return read(tmp_path)

    examples = [{"source": f"文{n}。", "translation": "A sentence."} for n in range(3)]
    assert read_from(json.dumps(examples).encode()) == ["文0。", "文1。", "文2。"]
    sources = ["", " ", *map(str, range(20))]  # blank ones are left out
    content = json.dumps([{"source": source} for source in sources]).encode()
    assert read_from(content) == [str(n) for n in range(NUM_EXAMPLES)]
    assert read_from(b"[]") == []
    assert caplog.text == ""
    broken = [b"", b"[", b"\xff", b"1", b'["a"]', b'{"a": 1}', b'[{"source": 1}]', b"[" * 100_000]
    for content in broken:
        caplog.clear()
        assert read_from(content) == []
        assert "cannot be read" in caplog.text
