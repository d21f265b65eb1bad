import subprocess
import sys

import numpy as np
import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from keras_attn.translation.corpus.characters import unify
from keras_attn.translation.tokenization import in_graph, tokenizer
from keras_attn.translation.tokenization.in_graph import GraphTokenizer

# Sentences written for this test.
SENTENCES = [
    f"{who}は{when}、{what}を{do}。"
    for who in ("兄", "妹", "先生", "あの人")
    for when in ("昨日", "今朝早く", "１０時に")
    for what in ("本", "新しいパソコン", "ケーキとコーヒー")
    for do in ("読みました", "買うつもりだった", "もらったそうです")
]
MODELS = {
    kind: tokenizer.train(SENTENCES, vocab_size=400, character_coverage=1.0, model_type=kind).proto
    for kind in ("unigram", "bpe")
}
GRAPHS = {kind: GraphTokenizer(proto) for kind, proto in MODELS.items()}
TOKENIZE = {
    kind: tf.function(graph.tokenize, input_signature=[tf.TensorSpec([None], tf.string)])
    for kind, graph in GRAPHS.items()
}
KINDS = pytest.mark.parametrize("kind", MODELS)


def package(kind):
    return sentencepiece.SentencePieceProcessor(model_proto=MODELS[kind])


def unified(text):
    """Bytes as `Tokenizer.encode` gives them to the package; invalid bytes stay."""
    return unify(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


TEXTS = st.text(
    st.sampled_from("はのを昨日読本人ー、。 １ab\u3000ﾊﾟ▁🎉\x00") | st.characters(), max_size=9
)


@KINDS
@settings(max_examples=20, derandomize=True, deadline=None)
@given(
    texts=st.lists(
        TEXTS.map(lambda t: t.encode("utf-8", "surrogatepass")) | st.binary(max_size=6), max_size=8
    )
)
def test_ids_and_text_are_those_of_the_package(kind, texts):
    ids = TOKENIZE[kind](tf.constant(texts, tf.string))
    expected = package(kind).encode([unified(text) for text in texts]) if texts else []
    assert ids.to_list() == expected
    back = [text.decode("utf-8") for text in GRAPHS[kind].detokenize(ids).numpy()]
    assert back == ([package(kind).decode(row) for row in expected] if texts else [])


def test_sentences_are_cut_as_by_the_package_in_groups_too(monkeypatch, kind="unigram"):
    monkeypatch.setattr(in_graph, "MAX_CELLS", 512)
    texts = [*SENTENCES, "", *SENTENCES[::-1], "".join(SENTENCES[:9])]
    graph = GraphTokenizer(MODELS[kind])
    found = graph.tokenize(tf.constant(texts)).to_list()
    assert found == package(kind).encode(texts)


@KINDS
@settings(max_examples=20, derandomize=True, deadline=None)
@given(rows=st.lists(st.lists(st.integers(0, 399), max_size=9), min_size=1, max_size=5))
def test_any_ids_give_the_text_of_the_package(kind, rows):
    rows = [[i % len(GRAPHS[kind]._pieces) for i in row] for row in rows]
    ids = tf.ragged.constant(rows, tf.int32, ragged_rank=1)
    found = [text.decode("utf-8") for text in GRAPHS[kind].detokenize(ids).numpy()]
    assert found == [package(kind).decode(row) for row in rows]


@KINDS
def test_pieces_are_those_of_the_package(kind):
    numbers = list(range(package(kind).vocab_size()))
    pieces = GRAPHS[kind].id_to_string(tf.constant(numbers)).numpy()
    assert [piece.decode() for piece in pieces] == package(kind).id_to_piece(numbers)


@KINDS
def test_string_of_a_piece_gives_its_id(kind):
    graph = GRAPHS[kind]
    numbers = tf.reshape(tf.range(10, 22), [2, 6])
    assert (
        graph.string_to_id(graph.id_to_string(numbers)).numpy().tolist() == numbers.numpy().tolist()
    )
    pieces = tf.constant([["no piece", "</s>"], ["<0x41>", "no piece"]])
    unknown, end = package(kind).unk_id(), package(kind).eos_id()
    found = graph.string_to_id(pieces).numpy().tolist()
    assert found == [[unknown, end], [package(kind).piece_to_id("<0x41>"), unknown]]


def test_characters_that_become_many_more_find_room():
    texts = ["\ufdfa" * 20, "本"]
    assert TOKENIZE["unigram"](tf.constant(texts)).to_list() == package("unigram").encode(texts)


def test_long_texts_and_short_ones_together_stay_small():
    texts = ["本を読みました。" * 3000, *["本"] * 200]
    assert TOKENIZE["unigram"](tf.constant(texts)).to_list() == package("unigram").encode(texts)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda model: model.trainer_spec.__setattr__("model_type", 3), "model_type=3"),
        (lambda model: model.normalizer_spec.__setattr__("add_dummy_prefix", False), "dummy"),
        (lambda model: model.pieces[300].__setattr__("type", 4), "user-defined"),
    ],
)
def test_models_of_other_kinds_are_refused(change, reason):
    model = sentencepiece_model_pb2.ModelProto.FromString(MODELS["unigram"])
    change(model)
    with pytest.raises(ValueError, match=f"must be a unigram or BPE .* Received: .*{reason}"):
        GraphTokenizer(model.SerializeToString())


@pytest.mark.slow  # as the exported translator, in another process
def test_saved_it_needs_nothing_but_tensorflow(tmp_path):
    graph = GRAPHS["unigram"]
    module = tf.Module()
    module.both = tf.function(
        lambda text: graph.detokenize(graph.tokenize(text)),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    tf.saved_model.save(module, str(tmp_path / "model"))
    code = (
        "import sys, tensorflow as tf; model = tf.saved_model.load(sys.argv[1]);"
        "assert not [m for m in sys.modules if m.startswith(('sentencepiece', 'keras_attn'))];"
        "sys.stdout.buffer.write(model.both(tf.constant(['本を ２冊 🎉'])).numpy()[0])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "model")]
    result = subprocess.run(command, capture_output=True, check=True)
    assert result.stdout.decode("utf-8") == "本を 2冊 🎉"


def test_numbers_of_texts_and_bytes_are_filled_up():
    steps = (1, 8, 32)
    found = [int(in_graph._filled(tf.constant(n), steps)) for n in (0, 1, 2, 8, 9, 33)]
    assert found == [1, 1, 8, 8, 32, 32]
    np.testing.assert_array_equal(in_graph._filled(tf.constant([3, 40]), steps), [8, 32])
