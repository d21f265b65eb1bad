import numpy as np
import pytest
import tensorflow as tf
from small_models import assert_weights, strengthen, strong

from keras_attn.translation import named_weights


def test_weights_of_an_export_in_bfloat16_come_in_float32(tmp_path):
    module = tf.Module()
    module.scale = tf.Variable(tf.constant([1.5, 2.0], tf.bfloat16), name="model/encoder/scale")
    module.score = tf.function(lambda: {"scale": module.scale.read_value()}, input_signature=[])
    tf.saved_model.save(module, str(tmp_path), signatures={"score": module.score})
    (path, value), *others = named_weights.of_version(tmp_path).items()
    assert path == "encoder/scale" and value.dtype == np.float32 and not others
    assert value.tolist() == [1.5, 2.0]


def test_place_is_the_same_whatever_the_model_is_called():
    for model in ("transformer_3/", "", "a/"):
        assert named_weights.path_in_model(f"{model}encoder/norm/gamma:0") == "encoder/norm/gamma"
    assert named_weights.path_in_model("my_model_2/scale") == "scale"
    assert named_weights.path_in_model("scale:0") == "scale"


@pytest.fixture
def other_model():
    return strengthen(strong(blockwise=False), seed=1)


def test_weights_are_assigned_by_path_whatever_their_order(tiny_model, other_model):
    values = named_weights.of_model(tiny_model)
    assert len(values) == len(tiny_model.weights)
    values = {path: values[path] for path in reversed(values)}
    named_weights.assign(other_model.weights[::-1], values)
    assert_weights(other_model, tiny_model.get_weights())


def test_other_paths_and_shapes_are_named_and_nothing_is_assigned(tiny_model, other_model):
    values = named_weights.of_model(tiny_model)
    before = other_model.get_weights()
    beta = "encoder/norm/beta"
    for wrong, message in (
        ({k: v for k, v in values.items() if k != beta}, f"missing {beta}; unknown none"),
        ({**values, "scale": np.ones(1)}, "missing none; unknown scale"),
        ({**values, beta: np.ones(3)}, rf"of the model. Received: {beta} \(3,\) for \(12,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            named_weights.assign(other_model.weights, wrong)
        assert_weights(other_model, before)
    with pytest.raises(ValueError, match="Received twice: encoder/embedding/tokens/embeddings"):
        named_weights.by_path(tiny_model.weights[:1] * 2)
    assert named_weights.named("edcab") == "a, b, c and 2 more"
