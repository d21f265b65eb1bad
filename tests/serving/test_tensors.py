import base64
import json

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from keras_attn.serving import tensors
from keras_attn.serving.errors import RequestError
from keras_attn.serving.tensors import as_json, shown, to_array, to_document, to_json

few = settings(max_examples=25, derandomize=True, deadline=None)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, max_side=4)


@few
@given(
    arrays.arrays(np.float32, SHAPES, elements=st.floats(width=32))
    | arrays.arrays(np.int64, SHAPES)
)
def test_numbers_come_back_bit_for_bit_through_json(array):
    text = as_json(to_document(array, "x"))
    np.testing.assert_array_equal(to_array(json.loads(text), tf.as_dtype(array.dtype)), array)


@few
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_floats_are_written_in_as_few_digits_as_tell_them_apart(number):
    array = np.array(number, np.float32)
    written = as_json(array[None])[1:-1].decode()
    assert json.loads(written) == to_json(array, "x")
    assert np.float32(written) == np.float32(number)
    assert len(written) <= len(repr(float(str(np.float32(number)))))


@few
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
    st.lists(st.binary(), min_size=1),
)
def test_text_comes_back_and_bytes_by_base64(texts, values):
    array = to_array(texts, tf.string)
    assert array.dtype == object
    assert [text.decode() for text in array] == texts == to_json(array, "text")
    written = [{"b64": base64.b64encode(value).decode()} for value in values]
    array = to_array(written, tf.string)
    assert array.tolist() == values
    assert to_json(array, "image_bytes") == written


def test_shapes_are_those_of_the_lists_and_numbers_go_up_to_their_limits():
    shapes = {(0,): [], (2, 0): [[], []], (1, 1, 1): [[["a"]]]}
    assert {to_array(value, tf.string).shape: value for value in shapes.values()} == shapes
    for dtype in (tf.int32, tf.int64, tf.uint8):
        limits = [dtype.min, dtype.max]
        assert to_array(limits, dtype).tolist() == limits


def test_what_is_no_such_tensor_is_refused_in_a_sentence():
    for value, dtype, says in (
        (["a", 1], tf.string, "JSON Value: 1 Type: Number is not of expected type: string"),
        ([None], tf.string, "JSON Value: null Type: Null is not of expected type: string"),
        ([True], tf.int32, "JSON Value: true Type: True is not of expected type: int32"),
        ([1.5], tf.int32, "JSON Value: 1.5 Type: Number is not of expected type: int32"),
        ([2**31], tf.int32, "is not of expected type: int32"),
        ([-1], tf.uint8, "is not of expected type: uint8"),
        (["1"], tf.float32, 'JSON Value: "1" Type: String is not of expected type: float32'),
        ([1], tf.bool, "is not of expected type: bool"),
        ([2**25 + 1], tf.float32, "Cannot convert JSON value: 33554433 to float without loss"),
        ([1e300], tf.float32, "to float without loss of precision"),
        ([10**400], tf.float64, "to double without loss of precision"),
        (["a", ["b"]], tf.string, "Encountered list at unexpected level: 1 expected < 1"),
        ([["a"], "b"], tf.string, "found at incorrect level: 2 in the JSON DOM. Expected at level"),
        ([["a"], ["b", "c"]], tf.string, "unexpected size: 2 at level: 1 expected size: 1"),
        ([{"b64": "?"}], tf.string, "Unable to base64 decode"),
        ([{"b64": "YQ==", "more": 1}], tf.string, "not formatted correctly for base64 data"),
        ([{"b64": 1}], tf.string, "not formatted correctly for base64 data"),
        ([{"a": 1}], tf.float32, "Type: Object is not of expected type: float32"),
        (json.loads("[" * 900 + "]" * 900), tf.string, "nested deeper than 32 levels"),
    ):
        with pytest.raises(RequestError) as caught:
            to_array(value, dtype)
        assert says in caught.value.message
        assert caught.value.status == 400


def test_bytes_that_are_no_text_become_text():
    assert to_json(np.array([b"\xff a"], object), "text") == ["\ufffd a"]


def test_an_error_repeats_little_of_a_large_value():
    assert len(shown(["x" * 10_000] * 1000)) < 300
    assert shown([[1], {"a": [2]}]) == '["[...]", "{...}"]'


def test_many_numbers_are_written_like_few(monkeypatch):
    monkeypatch.setattr(tensors, "_AT_ONCE", 3)
    array = np.linspace(0, 1, 2 * 5 * 7, dtype=np.float32).reshape(2, 5, 7)
    array[0, 0, :3] = np.nan, np.inf, -np.inf
    rows = [{"weights": row, "number": row[0, 3]} for row in array]
    found = json.loads(as_json({"rows": rows, "all": array, "nothing": array[:0], "text": ["犬"]}))
    lists = to_json(array, "x")
    assert repr(found) == repr(
        {
            "rows": [{"weights": row, "number": row[0][3]} for row in lists],
            "all": lists,
            "nothing": [],
            "text": ["犬"],
        }
    )
