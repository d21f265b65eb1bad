import numpy as np
import pytest
import tensorflow as tf

from keras_attn.serving import pieces
from keras_attn.serving.errors import RequestError
from keras_attn.serving.servable import Signature
from keras_attn.serving.settings import Settings

TEXTS = np.array(["犬".encode() * length for length in (3, 4, 5, 20, 0, 0, 0)], object)


def rows_of(signature, inputs):
    limits = Settings(batch_rows=2, batch_characters=10)
    found = list(pieces.cut(signature, inputs, len(inputs["text"]), limits))
    for piece in found:
        assert all(len(piece.inputs[name]) == piece.num_rows for name in inputs if name != "term")
    text = np.concatenate([piece.inputs["text"] for piece in found])
    np.testing.assert_array_equal(text, inputs["text"])
    return [(piece.num_rows, piece.size) for piece in found]


def signature(*shapes, output=(None,)):
    inputs = {name: tf.TensorSpec(shape, tf.string) for name, shape in shapes}
    return Signature(None, inputs, {"y": tf.TensorSpec(output, tf.string)})


def test_a_piece_has_so_many_rows_and_characters_or_is_one_text():
    text = ("text", [None])
    assert rows_of(signature(text), {"text": TEXTS}) == [(2, 7), (1, 5), (1, 20), (2, 2), (1, 1)]
    assert rows_of(signature(text), {"text": TEXTS[:0]}) == [(0, 0)]
    prefix = np.array([[b"ab", b"c"]] * 2, object)
    both = signature(text, ("prefix", [None, None]))
    assert rows_of(both, {"text": TEXTS[1:3], "prefix": prefix}) == [(1, 7), (1, 8)]
    # A glossary holds for all rows.
    terms = np.array([b"a", b"b", b"c"], object)
    glossary = signature(text, ("term", [None]))
    assert rows_of(glossary, {"text": TEXTS[:3], "term": terms}) == [(2, 7), (1, 5)]


def test_rows_that_depend_on_each_other_are_not_cut():
    seeded = {"text": TEXTS, "seed": np.array(1)}
    for one in (signature(("text", [None]), ("seed", [])), signature(("text", [None]), output=())):
        inputs = {name: seeded[name] for name in one.inputs}
        (piece,) = pieces.cut(one, inputs, 7, Settings(batch_rows=7, batch_characters=1))
        assert piece.inputs == inputs and piece.num_rows == 7
        with pytest.raises(RequestError, match="at most 6 texts. Received: 7"):
            list(pieces.cut(one, inputs, 7, Settings(batch_rows=6)))


def test_outputs_of_pieces_are_padded_as_those_of_one_call():
    found = [
        {"weights": np.ones([1, 2, 1]), "pieces": np.array([[b"a", b"b"]], object)},
        {"weights": np.full([2, 1, 3], 2.0), "pieces": np.array([[b"c"]] * 2, object)},
    ]
    outputs = pieces.joined(found)
    twos = [[2, 2, 2], [0, 0, 0]]
    assert outputs["weights"].tolist() == [[[1, 0, 0], [1, 0, 0]], twos, twos]
    assert outputs["pieces"].tolist() == [[b"a", b"b"], [b"c", b""], [b"c", b""]]


def test_outputs_of_several_texts_have_at_most_so_many_values():
    limits = Settings(max_cells=12)
    found = [{"y": np.zeros([1, 4]), "z": np.zeros([1, 1, 2])}]
    pieces.check_cells(found, 2, limits)
    pieces.check_cells([{"y": np.zeros([1, 99])}], 1, limits)  # the answer for one text is given
    with pytest.raises(RequestError, match="at most 12 values. These would have 18."):
        pieces.check_cells(found, 3, limits)
    found.append({"y": np.zeros([1, 5]), "z": np.zeros([1, 2, 1])})
    with pytest.raises(RequestError, match="These would have 18."):
        pieces.check_cells(found, 2, limits)
