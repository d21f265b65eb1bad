"""Whatever comes in: one clear sentence or a translation, never a crash, never a lost line."""

import gzip
import io

import pytest
import tensorflow as tf
from shared_translator import PAIRS

from keras_attn.translation.__main__ import answer_lines
from keras_attn.translation.corpus.load import load_corpus

PLAIN = PAIRS[0].source
TEXTS = {
    "empty": "",
    "spaces": "     ",
    "wide spaces": "\u3000\u3000",
    "tabs": "\t\t",
    "NUL": "川\0水",
    "only NUL": "\0",
    "BOM": "\ufeff川の水",
    "CR": "川\rの水",
    "line separators": "川\u2028水\u2029",
    "NEL and form feed": "川\x85水\x0c",
    "control characters": "".join(map(chr, range(1, 32))),
    "mark between parts": "川\x1f水",
    "lone surrogate": "川\ud800水",
    "noncharacter": "\ufffe\uffff",
    "replacement character": "\ufffd",
    "private use": "\ue000\U000f0000",
    "emoji sequence": "👩\u200d👩\u200d👧\u200d👦🏽🇯🇵",
    "zero-width": "\u200b\u200c\u200d\u2060",
    "half-width kana": "ﾊﾝｶｸｶﾅﾃﾞｽ｡",
    "full-width letters": "ＡＢＣ１２３",
    "compatibility": "㌔㍿①",
    "combining marks": "か\u3099" + "a" + "\u0301" * 200,
    "right to left": "مرحبا שלום \u202eabc",
    "old characters": "𠮷野家で鬱龘",
    "digits": "0123456789" * 20,
    "punctuation": "。、！？「」…―・",
    "only ends of sentences": "。" * 300,
    "markup": "<script>alert('川')</script> &amp; <b>",
    "format strings": "%s %n {0} ${x} `y` $(z)",
    "backslashes": "\\n\\x00\\u3042\\1",
    "paths": "../../etc/passwd C:\\川",
    "special pieces": "<s></s><pad><unk>",
    "bytes as text": "<0xE5><0xB7><0x9D>",
    "piece marks": "▁▁川▁",
    "no spaces": "川の水は冷たい" * 300,
    "one character": "川",
    "another language": "Ça va très bien, ¿no? Привет",
    "very long": "窓を開けて、" * 3000,
}


def test_text_of_any_kind_is_translated_in_its_place(translator):
    (expected,) = translator([PLAIN])
    # A plain text before each, so that an odd one that is lost or divided would move it.
    found = translator([text for odd in TEXTS.values() for text in (PLAIN, odd)])
    for (name, odd), before, answer in zip(TEXTS.items(), found[::2], found[1::2], strict=True):
        assert before == expected, name
        assert isinstance(answer, str) and (odd.strip() or answer == ""), name


def test_bytes_that_are_no_text_do_not_stop_the_saved_model(translator):
    broken = [b"\xff", b"\xe5\xb7", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80", b"\x80" * 99]
    plain = PLAIN.encode()
    serve = translator._loaded.signatures["serving_default"]
    texts = [text for content in broken for text in (plain, content)]
    found = serve(text=tf.constant(texts))["translation"].numpy()
    assert set(found[::2]) == {translator([PLAIN])[0].encode()}
    for translation in found[1::2]:
        assert isinstance(translation.decode("utf-8"), str)


@pytest.mark.slow
def test_a_line_of_a_million_characters_is_translated(translator):
    (found,) = translator(["川の水は冷たい" * 142_858])
    assert len(found) > 10_000


LINES = [
    b"\xff\xfe\x00",
    b"\xe5\xb7",  # half a character
    b"\xc0\x80\n\xed\xa0\x80",
    b"\xef\xbb\xbf\xe5\xb7\x9d",
    b"a\r\nb\r\n",
    b"a\n\n\nb",
    b"\n",
    b"",
    b"a\x00b\nc",
    b"a\x0bb\x0cc\x1cd\nnext",
    "a\u2028b\x85c\nnext".encode(),
    b"no end of line",
]


def test_every_line_in_is_one_line_out(translator):
    for lines in LINES:
        output = io.BytesIO()
        answer_lines(translator, io.BytesIO(lines), output)
        count = len(lines.split(b"\n")) - (lines.endswith(b"\n") or not lines)
        found = output.getvalue().decode("utf-8")
        assert found.count("\n") == len(found.splitlines()) == count, lines


GOOD = "".join(f"{i}番目の川の水は冷たい。\tThe water of river {i} is cold.\n" for i in range(600))


ODD_LINES = [
    ("without TAB", "川の水", 600),
    ("three columns", "川が三本ある。\tThere are three rivers.\tmore", 601),
    ("empty source", "\tThe river.", 600),
    ("empty target", "川。\t", 600),
    ("equal sides", "same\tsame", 600),
    ("only TABs", "\t\t\t", 600),
    ("NUL", "川\0の音がする。\tThe river makes a sound.", 601),
    ("CR before the end", "川は長い。\tThe river is long.\r", 601),
    ("a million characters", "川" * 1_000_000 + "\tRiver.", 600),
    ("no Japanese", "abc def\tghi jkl", 600),
]
ODD_BEGINNINGS = [b"\xef\xbb\xbf", b"\xff\xfe\t\n", b"\n\n", b"\xe5\xb7\t\xe5\n", b"# a title\n"]


def test_odd_lines_of_a_corpus_are_kept_or_counted(tmp_path):
    path = tmp_path / "data.tsv"
    for name, line, kept in ODD_LINES:
        path.write_text(GOOD + line + "\n", encoding="utf-8", newline="")
        counts = load_corpus(path).counts
        assert (counts["read"], counts["kept"]) == (601, kept), name
    for beginning in ODD_BEGINNINGS:
        path.write_bytes(beginning + GOOD.encode())
        assert load_corpus(path).counts["kept"] == 600, beginning


def refuse(path, match):
    with pytest.raises(ValueError, match=match):
        load_corpus(path)


def test_files_that_are_no_corpus_are_refused_in_one_sentence(tmp_path):
    refuse(tmp_path, "must be a file, not a folder")
    refuse(tmp_path / "none.tsv", "no such file")
    empty = tmp_path / "empty.tsv"
    empty.touch()
    refuse(empty, "which is empty")
    binary = tmp_path / "picture.png"
    binary.write_bytes(bytes(range(256)) * 50)
    refuse(binary, "No pair of the corpus is left")
    cut = tmp_path / "cut.tsv.gz"
    cut.write_bytes(gzip.compress(GOOD.encode())[:200])
    refuse(cut, "cannot be read to its end")
    blank = tmp_path / "blank.tsv"
    blank.write_text("\n" * 50)
    refuse(blank, "No pair of the corpus is left")


def test_file_without_permission_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "data.tsv"
    path.write_text(GOOD, encoding="utf-8")

    def open_for_nobody(self, *arguments):  # root may read everything, and tests may run as root
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(type(path), "open", open_for_nobody)
    refuse(path, "cannot be read to its end: .*Permission denied")
