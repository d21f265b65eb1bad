import json

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.serving.errors import RequestError
from keras_attn.serving.protocol import answer, question, read, signature_name

few = settings(max_examples=40, derandomize=True, deadline=None)
TEXT = {"text": tf.TensorSpec([None], tf.string)}
PAIR = {"text": tf.TensorSpec([None], tf.string), "seed": tf.TensorSpec([], tf.int32)}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=8,
)


@few
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_rows_and_columns_ask_the_same(texts):
    rows = question({"instances": texts}, TEXT)
    objects = question({"instances": [{"text": text} for text in texts]}, TEXT)
    columns = question({"inputs": {"text": texts}}, TEXT)
    assert (rows.form, objects.form, columns.form) == ("row", "row", "column")
    for asked in (rows, objects, columns):
        assert [text.decode() for text in asked.inputs["text"]] == texts


@few
@given(JSON, st.sampled_from(["instances", "inputs"]), st.sampled_from([TEXT, PAIR]))
def test_whatever_is_asked_is_taken_or_refused_in_a_sentence(value, key, specs):
    try:
        asked = question({key: value}, specs)
    except RequestError as error:
        assert error.status == 400
        assert len(error.message) < 2000
    else:
        assert asked.inputs.keys() == specs.keys()


@few
@given(st.binary())
def test_whatever_bytes_come_are_an_object_or_refused(body):
    try:
        assert isinstance(read(body), dict)
    except RequestError as error:
        assert error.status == 400


def test_the_signature_is_the_default_where_none_is_named():
    assert signature_name({}) == signature_name({"signature_name": ""}) == "serving_default"
    assert signature_name({"signature_name": "nbest"}) == "nbest"


def test_a_scalar_input_is_given_in_columns():
    asked = question({"inputs": {"text": ["a"], "seed": 3}}, PAIR)
    assert asked.inputs["seed"].shape == ()
    with pytest.raises(RequestError, match=r"Tensor seed has shape \[1\], expected \[\]"):
        question({"instances": [{"text": "a", "seed": 3}]}, PAIR)


def test_one_output_has_no_name_and_several_have():
    one = {"y": np.array([1, 2])}
    two = {**one, "z": np.array([[0.5], [1.5]], np.float32)}
    assert json.loads(answer(one, "row")) == {"predictions": [1, 2]}
    assert json.loads(answer(one, "column")) == {"outputs": [1, 2]}
    rows = [{"y": 1, "z": [0.5]}, {"y": 2, "z": [1.5]}]
    assert json.loads(answer(two, "row")) == {"predictions": rows}
    assert json.loads(answer(two, "column")) == {"outputs": {"y": [1, 2], "z": [[0.5], [1.5]]}}


def test_outputs_that_are_no_rows_are_refused_as_rows():
    unequal = "Tensor name: z has inconsistent batch size: 2 expecting: 1"
    for outputs, says in (
        ({"y": np.array(1)}, "Tensor name: y has no shape information"),
        ({"y": np.array([1]), "z": np.array([1, 2])}, unequal),
    ):
        with pytest.raises(RequestError, match=says):
            answer(outputs, "row")
        answer(outputs, "column")
