import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.serving.apis.tensorflow_serving import parse_request, to_response
from keras_attn.serving.body import parse_json
from keras_attn.serving.errors import RequestError

TEXT = {"text": tf.TensorSpec([None], tf.string)}
PAIR = {**TEXT, "seed": tf.TensorSpec([], tf.int32)}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=8,
)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(JSON, st.sampled_from(["instances", "inputs"]), st.sampled_from([TEXT, PAIR]), st.binary())
def test_whatever_is_asked_is_taken_or_refused_in_a_sentence(value, key, specs, body):
    try:
        asked = parse_request({key: value}, specs)
    except RequestError as error:
        assert error.status == 400
        assert len(error.message) < 2000
    else:
        assert asked.inputs.keys() == specs.keys()
    try:
        assert isinstance(parse_json(body), dict)
    except RequestError as error:
        assert error.status == 400


def test_a_scalar_input_is_given_in_columns():
    asked = parse_request({"inputs": {"text": ["a"], "seed": 3}}, PAIR)
    assert asked.inputs["seed"].shape == ()
    with pytest.raises(RequestError, match=r"Tensor seed has shape \[1\], expected \[\]"):
        parse_request({"instances": [{"text": "a", "seed": 3}]}, PAIR)


def test_outputs_that_are_no_rows_are_refused_as_rows():
    unequal = "Tensor name: z has inconsistent batch size: 2 expecting: 1"
    for outputs, says in (
        ({"y": np.array(1)}, "Tensor name: y has no shape information"),
        ({"y": np.array([1]), "z": np.array([1, 2])}, unequal),
    ):
        with pytest.raises(RequestError, match=says):
            to_response(outputs, "row")
        to_response(outputs, "column")
