"""Whatever comes in: one clear sentence or a translation, never a crash, never a lost line."""

import gzip
import io

import pytest
import tensorflow as tf
from shared_translator import PAIRS

from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.line_filter import ArrivingLines, answer_lines

PLAIN = PAIRS[0].source
TEXTS = [
    *("", "     ", "\u3000\u3000", "\t\t", "\0", "川", "。" * 30, "。、！？「」…―・"),
    # Characters that nobody sees, or that are none.
    *("川\0水", "\ufeff川の水", "川\rの水", "川\u2028水\u2029", "川\x85水\x0c", "川\x1f水"),
    *("".join(map(chr, range(1, 32))), "\u200b\u200c\u200d\u2060", "川\ud800水", "\ufffe\uffff"),
    *("\ufffd", "\ue000\U000f0000", "か\u3099" + "a" + "\u0301" * 99),
    # Other forms and scripts.
    *("👩\u200d👩\u200d👧\u200d👦🏽🇯🇵", "ﾊﾝｶｸｶﾅﾃﾞｽ｡", "ＡＢＣ１２３", "㌔㍿①", "𠮷野家で鬱龘"),
    *("مرحبا שלום \u202eabc", "Ça va très bien, ¿no? Привет", "0123456789" * 20),
    # What means something to a program.
    *("<script>alert('川')</script> &amp; <b>", "%s %n {0} ${x} `y` $(z)", "\\n\\x00\\u3042\\1"),
    *("../../etc/passwd C:\\川", "<s></s><pad><unk>", "<0xE5><0xB7><0x9D>", "▁▁川▁"),
    # Longer than any sentence.
    *("川の水は冷たい" * 9, "窓を開けて、" * 200),
]


def test_text_of_any_kind_is_translated_in_its_place(translator):
    # A plain text before each, so that an odd one that is lost or divided would move it.
    found = translator([text for odd in TEXTS for text in (PLAIN, odd)])
    for odd, before, answer in zip(TEXTS, found[::2], found[1::2], strict=True):
        assert before == found[0] != "", repr(odd)
        assert isinstance(answer, str) and (odd.strip() or answer == ""), repr(odd)


def test_bytes_that_are_no_text_do_not_stop_the_saved_model(translator):
    broken = [b"\xff", b"\xe5\xb7", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80", b"\x80" * 99]
    serve = translator._loaded.signatures["serving_default"]
    texts = [text for content in broken for text in (PLAIN.encode(), content)]
    found = serve(text=tf.constant(texts))["translation"].numpy()
    assert len(set(found[::2])) == 1
    for translation in found[1::2]:
        translation.decode("utf-8")


@pytest.mark.slow
def test_a_line_of_a_million_characters_is_translated(translator):
    (found,) = translator(["川の水は冷たい" * 142_858])
    assert len(found) > 10_000


LINES = [
    *(b"\xff\xfe\x00", b"\xe5\xb7", b"\xc0\x80\n\xed\xa0\x80", b"\xef\xbb\xbf\xe5\xb7\x9d"),
    *(b"a\r\nb\r\n", b"a\n\n\nb", b"\n", b"", b"no end of line"),
    *(b"a\x00b\nc", b"a\x0bb\x0cc\x1cd\nnext", "a\u2028b\x85c\nnext".encode()),
]


def test_every_line_in_is_one_line_out(translator):
    for lines in LINES:
        output = io.BytesIO()
        answer_lines(translator, ArrivingLines(io.BytesIO(lines)), output)
        count = len(lines.split(b"\n")) - (lines.endswith(b"\n") or not lines)
        found = output.getvalue().decode("utf-8")
        assert found.count("\n") == len(found.splitlines()) == count, lines


GOOD = "".join(f"{i}番目の川の水は冷たい。\tThe water of river {i} is cold.\n" for i in range(600))
ODD_LINES = {  # and whether the pair is kept
    "川の水": False,
    "川が三本ある。\tThere are three rivers.\tmore": True,
    "\tThe river.": False,
    "川。\t": False,
    "same\tsame": False,
    "\t\t\t": False,
    "川\0の音がする。\tThe river makes a sound.": True,
    "川は長い。\tThe river is long.\r": True,
    "川" * 1_000_000 + "\tRiver.": False,
    "abc def\tghi jkl": False,
}
ODD_BEGINNINGS = [b"\xef\xbb\xbf", b"\xff\xfe\t\n", b"\n\n", b"\xe5\xb7\t\xe5\n", b"# a title\n"]


def test_odd_lines_of_a_corpus_are_kept_or_counted(tmp_path):
    path = tmp_path / "data.tsv"
    for line, is_kept in ODD_LINES.items():
        path.write_text(GOOD + line + "\n", encoding="utf-8", newline="")
        counts = load_corpus(str(path)).counts
        assert (counts["read"], counts["kept"]) == (601, 600 + is_kept), line[:50]
    for beginning in ODD_BEGINNINGS:
        path.write_bytes(beginning + GOOD.encode())
        assert load_corpus(str(path)).counts["kept"] == 600, beginning


def test_files_that_are_no_corpus_are_refused_in_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "data.tsv"

    for content, match in (
        (b"", "must hold sentences. Received: .*which is empty"),
        (gzip.compress(b""), "which is empty"),
        (bytes(range(256)) * 50, "must be UTF-8. Received: "),
        (gzip.compress(GOOD.encode())[:200], "cannot be read to its end"),
        (b"\n" * 50, "No pair of the corpus is left"),
        (b"one,two\nthree,four\nfive", "source TAB target.*do not have two columns"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=match):
            load_corpus(str(path))

    def open_for_nobody(self, *arguments):  # root may read everything, and tests may run as root
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(type(path), "open", open_for_nobody)
    with pytest.raises(ValueError, match="cannot be read to its end: .*Permission denied"):
        load_corpus(str(path))
