import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.tokenization.sentences import SEPARATOR, joiner, parts, sentences


def characters(texts):
    return tf.strings.unicode_decode(texts, "UTF-8")


def cut(texts, limit):
    """The parts of each text, as strings."""
    chunks, owners = parts(tf.constant(texts), characters, limit)
    found = [[] for _ in texts]
    encoded = tf.strings.unicode_encode(chunks, "UTF-8").numpy().tolist()
    for chunk, owner in zip(encoded, owners.numpy().tolist(), strict=True):
        found[owner].append(chunk.decode())
    return found


def test_sentences_end_behind_their_marks_and_what_closes():
    texts = ["猫だ。「はい。」と言う！？走れ！", "Mr 3.5 cm. It ends. (So.) a\nb", ""]
    assert [[s.decode() for s in row] for row in sentences(tf.constant(texts)).to_list()] == [
        ["猫だ。", "「はい。」", "と言う！？", "走れ！", ""],
        ["Mr 3.5 cm. ", "It ends. ", "(So.) ", "a\n", "b"],
        [""],
    ]


def test_short_texts_stay_whole_and_long_ones_are_cut_at_sentence_ends():
    assert cut(["猫。犬。", "猫が寝る。犬が走る。", ""], 5) == [
        ["猫。犬。"],
        ["猫が寝る。", "犬が走る。"],
        [],
    ]


def test_sentence_beyond_the_limit_is_cut_at_the_limit():
    assert cut(["あ" * 12 + "。い。"], 5) == [["あああああ", "あああああ", "ああ。", "い。"]]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.text("あい。！.? \n)」a", max_size=30), min_size=1, max_size=4),
    st.integers(1, 12),
)
def test_no_part_is_too_long_and_nothing_is_lost(texts, limit):
    for text, found in zip(texts, cut(texts, limit), strict=True):
        assert "".join(found) == text
        assert all(0 < len(part) <= limit for part in found)


def test_the_mark_between_parts_cannot_come_from_outside():
    assert sentences(tf.constant([f"a{SEPARATOR}b"])).to_list() == [[b"a b"]]


def test_sentences_are_joined_as_their_language_writes_them():
    assert [joiner(language) for language in ("en", "ja", "zh-Hant", "ja-JP")] == [" ", "", "", ""]
