import keras
import numpy as np
import pytest
from keras import ops

from keras_attn.layers.normalization import Normalization

LAYERS = {"layer": keras.layers.LayerNormalization, "rms": keras.layers.RMSNormalization}


def make(kind, **options):
    """A layer with weights that are not those of the start."""
    layer = Normalization(kind, **options)
    layer.build((None, None, 6))
    random = np.random.default_rng(3)
    layer.set_weights([random.normal(size=weight.shape) for weight in layer.weights])
    return layer


def make_x(shape=(2, 3, 6)):
    return np.random.default_rng(1).normal(2.0, 3.0, shape).astype("float32")


@pytest.mark.parametrize("kind", LAYERS)
def test_equals_the_layer_of_keras_in_training_too(kind):
    x = 0.1 * make_x()
    for epsilon in (1e-6, 0.5):
        layer, reference = make(kind, epsilon=epsilon), LAYERS[kind](epsilon=epsilon)
        twin = Normalization.from_config(layer.get_config())
        for other in (twin, reference):
            other.build((None, None, 6))
            other.set_weights(layer.get_weights())
        for one in (layer, twin):
            for training in (False, True):
                found = one(x, training=training)
                np.testing.assert_allclose(found, reference(x), rtol=1e-5, atol=1e-5)


def test_half_precision_is_computed_in_float32():
    layer = make("layer", dtype="mixed_bfloat16")
    x = 1000.0 + make_x()  # bfloat16 would round these to multiples of 4
    found = layer(x)
    assert keras.backend.standardize_dtype(found.dtype) == "bfloat16"
    exact = make("layer")(x)
    found, exact = (ops.convert_to_numpy(ops.cast(y, "float32")) for y in (found, exact))
    np.testing.assert_allclose(found, exact, rtol=0.02, atol=0.02)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="by TensorFlow's tape")
@pytest.mark.parametrize("shape", [(5, 6), (2, 2, 2, 6)])
def test_gradients_of_training_are_those_of_the_formula(shape):
    import tensorflow as tf

    layer, x = make("layer"), tf.constant(make_x(shape))
    direction = tf.constant(np.random.default_rng(5).normal(size=shape), tf.float32)
    found = {}
    for training in (False, True):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(direction * layer(x, training=training) ** 2)
            gradients = tape.gradient(loss, [x, layer.gamma.value, layer.beta.value])
            length = tf.reduce_sum(gradients[0] ** 2)
        found[training] = [*gradients, outer.gradient(length, x)]
    for one, other in zip(found[True], found[False], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)
