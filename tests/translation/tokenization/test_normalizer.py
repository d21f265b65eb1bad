import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from keras_attn.translation.tokenization import tokenizer, utf8
from keras_attn.translation.tokenization.normalizer import Normalizer

TRAINED = tokenizer.train(["the cat", "the dog"], vocab_size=300, character_coverage=1.0)
RULES = sentencepiece_model_pb2.ModelProto.FromString(TRAINED.proto).normalizer_spec
NORMALIZER = Normalizer(RULES.precompiled_charsmap)
WIDTH = 18 * 40  # room for whatever 40 bytes become
COMPILED = tf.function(
    NORMALIZER, input_signature=[tf.TensorSpec([1, WIDTH], tf.int32), tf.TensorSpec([1], tf.int32)]
)
PACKAGE = sentencepiece.SentencePieceProcessor(model_proto=TRAINED.proto)


def normalise(data):
    row = tf.constant([[*data, *[utf8.NONE] * (WIDTH - len(data))]])
    found = COMPILED(row, tf.constant([len(data)]))
    return "".join(map(chr, found.code_points[0, : found.lengths[0]].numpy()))


# Characters that have rules, alone or together, and what becomes white space or nothing.
SPECIAL = st.sampled_from(" \u3000\t\u00a0\u200b\x00\x01ｱﾞﾟガかが\u3099\u0301é①㌔㍿\ufdfa¨\u2581ﬁ²")


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.text(SPECIAL | st.characters(exclude_categories=["Cs"]), max_size=8))
def test_text_is_normalised_as_by_the_package(text):
    assert normalise(text.encode()) == PACKAGE.normalize(text)


# Bytes at the borders of what begins and what continues a character.
BORDERS = [0x41, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0x90, 0xF4]
AWKWARD = st.lists(st.sampled_from(BORDERS), max_size=4).map(bytes)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.lists(AWKWARD | st.binary(max_size=2) | st.text(SPECIAL, max_size=2).map(str.encode)))
def test_bytes_that_are_no_text_are_replaced_as_by_the_package(parts):
    data = b"".join(parts)[:40]
    expected = PACKAGE.normalize(data)
    assert normalise(data) == (expected.decode() if isinstance(expected, bytes) else expected)


def test_what_needs_more_room_says_so():
    data = "\ufdfa".encode()  # 3 bytes, 18 characters
    found = NORMALIZER(tf.constant([[*data]]), tf.constant([3]))
    assert int(found.needed[0]) == 19


def test_without_rules_only_white_space_changes():
    texts = ["ｶﾞ ①  ab ", " ", "", "a\0b", "\u3000x"]
    plain = sentencepiece.SentencePieceNormalizer(rule_name="identity")
    for text in texts:
        data = text.encode()
        rows = tf.constant([[*data, utf8.NONE]])
        found = Normalizer(b"")(rows, tf.constant([len(data)]))
        code_points = found.code_points[0, : found.lengths[0]].numpy().tolist()
        assert "".join(map(chr, code_points)) == plain.normalize(text)


def test_what_are_no_rules_is_refused():
    for rules in (b"\x08\0\0\0\1\2", b"\3\0\0\0abc\0"):
        with pytest.raises(ValueError, match="must be rules in the format .* Received: "):
            Normalizer(rules)
