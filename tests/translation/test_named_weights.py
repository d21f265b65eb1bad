import numpy as np
import pytest
import tensorflow as tf

from keras_attn import Transformer
from keras_attn.translation import named_weights


def test_weights_of_a_model_are_found_by_their_places(tiny_model):
    found = named_weights.of_model(tiny_model)
    assert len(found) == len(tiny_model.weights)
    by_path = {weight.path: weight for weight in tiny_model.weights}
    for path, weight in by_path.items():
        np.testing.assert_array_equal(found[named_weights.path_in_model(path)], weight)


def test_weights_of_an_export_in_bfloat16_come_in_float32(tmp_path):
    module = tf.Module()
    module.scale = tf.Variable(tf.constant([1.5, 2.0], tf.bfloat16), name="model/encoder/scale")
    module.score = tf.function(lambda: {"scale": module.scale.read_value()}, input_signature=[])
    tf.saved_model.save(module, str(tmp_path), signatures={"score": module.score})
    (path, value), *others = named_weights.of_version(tmp_path).items()
    assert path == "encoder/scale" and value.dtype == np.float32 and not others
    assert value.tolist() == [1.5, 2.0]


def test_place_is_the_same_whatever_the_model_is_called():
    for name in (
        "transformer_3/encoder/norm/gamma:0",
        "encoder/norm/gamma",
        "a/encoder/norm/gamma",
    ):
        assert named_weights.path_in_model(name) == "encoder/norm/gamma"


def test_place_in_a_model_without_stacks_leaves_out_the_name_of_the_model():
    assert named_weights.path_in_model("my_model_2/scale") == "scale"
    assert named_weights.path_in_model("scale:0") == "scale"


@pytest.fixture
def other_model(tiny_model):
    model = Transformer.from_config(tiny_model.get_config())
    model.build(((None, None), (None, None)))
    return model


def test_weights_are_assigned_by_path_whatever_their_order(tiny_model, other_model):
    values = named_weights.of_model(tiny_model)
    values = {path: values[path] for path in reversed(values)}
    named_weights.assign(other_model.weights[::-1], values)
    for one, other in zip(other_model.get_weights(), tiny_model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.pop("encoder/norm/beta"), "missing encoder/norm/beta; unknown none"),
        (lambda v: v.update(scale=np.ones(1)), "missing none; unknown scale"),
        (
            lambda v: v.update({"encoder/norm/beta": np.ones(3)}),
            r"shapes of the model. Received: encoder/norm/beta \(3,\) for \(12,\)",
        ),
    ],
)
def test_other_paths_and_shapes_are_named_and_nothing_is_assigned(
    tiny_model, other_model, change, message
):
    values = named_weights.of_model(tiny_model)
    change(values)
    before = other_model.get_weights()
    with pytest.raises(ValueError, match=message):
        named_weights.assign(other_model.weights, values)
    for one, other in zip(other_model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_two_weights_of_one_path_are_refused(tiny_model):
    with pytest.raises(ValueError, match="Received twice: encoder/embedding/tokens/embeddings"):
        named_weights.by_path(tiny_model.weights[:1] * 2)


def test_many_paths_are_three_and_a_number():
    assert named_weights.named("edcab") == "a, b, c and 2 more"
