import numpy as np
import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.importing import folder, vocabulary
from keras_attn.translation.importing.vocabulary import SpecialTokens
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from keras_attn.translation.tokenization.in_graph import GraphTokenizer
from keras_attn.translation.tokenization.tokenizer import ModelProto

SPECIAL = SpecialTokens("<pad>", "<unk>", "</s>")
TEXTS = st.text(
    st.sampled_from("猫がある本箱駅catTheé漢字 \t\u3000▁ｶ①🎉<>x") | st.characters(codec="utf-8"),
    max_size=12,
)


def converted(proto, tokens):
    return vocabulary.convert(proto, tokens, SPECIAL, "vocab.json")


@pytest.fixture(scope="module")
def files(tiny):
    """The model of SentencePiece, and the ids of tokens."""
    return folder.read_bytes(tiny, "source.spm"), folder.read_json(tiny, "vocab.json")


@pytest.fixture(scope="module")
def found(files):
    return converted(*files)


@pytest.fixture(scope="module")
def graph(found):
    return GraphTokenizer(found.tokenizer.proto)


def in_vocabulary(found, ids):
    """Ids of the imported vocabulary."""
    return [[int(found.rows[i]) for i in row] for row in ids]


def test_ids_are_those_of_transformers(tiny, files, found, graph, answers):
    texts = answers["strings"]
    target = converted(folder.read_bytes(tiny, "target.spm"), files[1])
    sides = [
        (found, found.tokenizer.encode(texts), answers["source_ids"]),
        (found, graph.tokenize(tf.constant(texts)).to_list(), answers["source_ids"]),
        (target, target.tokenizer.encode(texts), answers["target_ids"]),
    ]
    for side, ids, expected in sides:
        assert in_vocabulary(side, ids) == [row[:-1] for row in expected]  # without the end


@settings(max_examples=10, derandomize=True, deadline=None)
@given(texts=st.lists(TEXTS, min_size=16, max_size=16))
def test_ids_are_those_of_the_names_of_pieces(files, found, graph, texts):
    proto, tokens = files
    package = sentencepiece.SentencePieceProcessor(model_proto=proto)
    pieces = [package.encode(text, out_type=str) for text in texts]
    # No text is a special piece.
    names = {name: i for name, i in tokens.items() if name not in ("<pad>", "</s>")}
    expected = [[names.get(piece, tokens["<unk>"]) for piece in row] for row in pieces]
    assert in_vocabulary(found, found.tokenizer.encode(texts)) == expected
    assert in_vocabulary(found, graph.tokenize(tf.constant(texts)).to_list()) == expected


def test_text_of_any_ids_is_that_of_their_pieces(files, found, graph):
    names = {number: name for name, number in files[1].items()}
    draw = np.random.default_rng(3)
    rows = [draw.integers(0, found.tokenizer.vocab_size, 7).tolist() for _ in range(50)]
    expected = [
        "".join(names[int(found.rows[i])] for i in row if i > EOS_ID).replace("▁", " ").strip()
        for row in rows
    ]
    assert found.tokenizer.decode(rows) == expected
    back = graph.detokenize(tf.ragged.constant(rows, tf.int32)).numpy()
    assert [text.decode() for text in back] == expected


def test_special_ids_come_first_and_the_start_is_padding(files, found, graph):
    _, tokens = files
    names = {PAD_ID: "<pad>", UNK_ID: "<unk>", BOS_ID: "<pad>", EOS_ID: "</s>"}
    assert found.rows[: EOS_ID + 1].tolist() == [tokens[names[i]] for i in range(EOS_ID + 1)]
    assert sorted(found.rows[EOS_ID + 1 :]) == sorted(set(tokens.values()) - {*found.rows[:4]})
    assert graph.is_rare.nonzero()[0].tolist() == [UNK_ID]


def test_sampled_segmentations_have_ids_and_spell_the_text(found):
    text = "古い紙袋が前にある。"
    ways = {tuple(found.tokenizer.sample([text], 0.01, seed)[0]) for seed in range(20)}
    assert len(ways) > 1
    assert set(found.tokenizer.decode(list(ways))) == {text}
    (ids,) = found.tokenizer.sample([f">>eng<< {text}"], 1.0, 0)
    assert found.tokenizer.pieces[ids[0]] == ">>eng<<"


def test_sentencepiece_models_of_other_kinds_are_refused(files):
    proto, tokens = files
    for change, reason in (
        (lambda model: setattr(model.trainer_spec, "model_type", 2), "model_type=2"),
        (lambda model: setattr(model.trainer_spec, "byte_fallback", True), "byte_fallback=True"),
        (lambda model: setattr(model.pieces[5], "type", 4), "user-defined pieces"),
        (lambda model: model.ClearField("pieces"), "no pieces"),
    ):
        model = ModelProto.FromString(proto)
        change(model)
        with pytest.raises(ValueError, match=f"must be a unigram model .* Received: .*{reason}"):
            converted(model.SerializeToString(), tokens)


def test_a_vocabulary_that_is_not_complete_is_refused(files):
    proto, tokens = files
    without_padding = {token: i for token, i in tokens.items() if token != "<pad>"}
    with pytest.raises(ValueError, match="must have the special tokens .* Received: no <pad>"):
        converted(proto, without_padding)
    with pytest.raises(ValueError, match="`vocab.json` must give each token an id of its own"):
        converted(proto, {**tokens, "new": 5})
    with pytest.raises(ValueError, match="cannot be read; a file is cut off"):
        converted(proto[:-5], tokens)
