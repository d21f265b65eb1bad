import functools

import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from keras_attn.translation.text.characters import unify
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.tokenization.in_graph import GraphTokenizer

# Sentences written for this test.
SENTENCES = [
    f"{who}は{when}、{what}を{do}。"
    for who in ("兄", "妹", "先生", "あの人")
    for when in ("昨日", "今朝早く", "１０時に")
    for what in ("本", "新しいパソコン", "ケーキとコーヒー")
    for do in ("読みました", "買うつもりだった", "もらったそうです")
]


@functools.cache
def tokenizers():
    """The same tokenizer in the graph and of the package; texts of up to 256 bytes are compiled."""
    proto = tokenizer.train(SENTENCES, 400, character_coverage=1.0).proto
    graph = GraphTokenizer(proto, tf.Variable(16))
    return graph, sentencepiece.SentencePieceProcessor(model_proto=proto)


def texts_of(graph, ids):
    return [text.decode("utf-8") for text in graph.detokenize(ids).numpy()]


def unified(text):
    """Bytes as `Tokenizer.encode` gives them to the package; invalid bytes stay."""
    return unify(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


TEXTS = st.text(
    st.sampled_from("はのを本人ー、。 １ab\u3000ﾊﾟ▁🎉\x00\uff5e\u200d") | st.characters(), max_size=9
)
PARTS = st.builds(lambda text, i: text[i : i + 14], st.sampled_from(SENTENCES), st.integers(0, 9))


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    texts=st.lists(  # of one size
        (TEXTS | PARTS).map(lambda t: t.encode("utf-8", "surrogatepass")) | st.binary(max_size=6),
        min_size=2,
        max_size=8,
    )
)
def test_ids_and_text_are_those_of_the_package(texts):
    graph, package = tokenizers()
    ids = graph.tokenize(tf.constant(texts, tf.string))
    expected = package.encode([unified(text) for text in texts])
    assert ids.to_list() == expected
    assert texts_of(graph, ids) == [package.decode(row) for row in expected]


def test_texts_that_need_much_room_are_tokenized_as_by_the_package_in_groups_too():
    graph, package = tokenizers()
    for texts in (
        [],
        ["\ufdfa" * 20, "本"],  # characters that become many more
        ["本を読みました。" * 3000, *SENTENCES[::9], "", *["本"] * 99],
    ):
        assert graph.tokenize(tf.constant(texts, tf.string)).to_list() == package.encode(texts)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(rows=st.lists(st.lists(st.integers(0, 399), max_size=9), min_size=1, max_size=5))
def test_any_ids_give_the_text_of_the_package(rows):
    graph, package = tokenizers()
    rows = [[i % package.vocab_size() for i in row] for row in rows]
    ids = tf.ragged.constant(rows, tf.int32, ragged_rank=1)
    assert texts_of(graph, ids) == [package.decode(row) for row in rows]


def test_pieces_are_those_of_the_package_and_give_their_ids():
    graph, package = tokenizers()
    numbers = list(range(package.vocab_size()))
    pieces = graph.id_to_string(tf.constant(numbers))
    assert [piece.decode() for piece in pieces.numpy()] == package.id_to_piece(numbers)
    some = tf.reshape(tf.range(10, 22), [2, 6])
    tf.debugging.assert_equal(graph.string_to_id(graph.id_to_string(some)), some)
    pieces = ["no piece", "</s>", "<0x41>"]
    found = graph.string_to_id(tf.constant([pieces])).numpy().tolist()
    assert found == [[package.unk_id(), *map(package.piece_to_id, pieces[1:])]]


def test_models_of_other_kinds_are_refused():
    _, package = tokenizers()
    for field, value, reason in (
        ("trainer_spec.model_type", 2, "model_type=2"),
        ("normalizer_spec.add_dummy_prefix", False, "dummy"),
        ("pieces.type", 4, "user-defined"),
    ):
        model = sentencepiece_model_pb2.ModelProto.FromString(package.serialized_model_proto())
        name, field = field.split(".")
        setattr(model.pieces[300] if name == "pieces" else getattr(model, name), field, value)
        with pytest.raises(ValueError, match=f"must be a unigram .* Received: .*{reason}"):
            GraphTokenizer(model.SerializeToString())
