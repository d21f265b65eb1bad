import keras
import numpy as np
import pytest
from every_layer import same_weights
from keras import ops

from keras_attn.layers.dense import Projection, copy_initializer, project_heads

X = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)


def test_computes_what_a_dense_layer_computes():
    layer, dense = Projection(5, activation="relu"), keras.layers.Dense(5, activation="relu")
    layer(X), dense(X)
    dense.set_weights(layer.get_weights())
    np.testing.assert_array_equal(layer(X), dense(X))


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="by TensorFlow's tape")
@pytest.mark.parametrize("shape", [(6, 4), (2, 3, 4)])
def test_gradients_in_half_precision_are_those_of_a_dense_layer(shape):
    import tensorflow as tf

    x = tf.constant(np.random.default_rng(2).normal(size=shape), tf.float32)
    found = []
    for layer_class in (Projection, keras.layers.Dense):
        layer = layer_class(5, activation="tanh", dtype="mixed_bfloat16")
        layer.build(shape)
        layer.set_weights([np.full(w.shape, 0.3) for w in layer.weights])
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.cast(layer(x, training=True), tf.float32) ** 2)
        found.append(tape.gradient(loss, [x, layer.kernel.value, layer.bias.value]))
    for one, other in zip(*found, strict=True):
        assert one.dtype == tf.float32
        np.testing.assert_allclose(one, other, rtol=0.03, atol=0.03)


def test_heads_are_consecutive_features():
    x = np.random.default_rng(1).normal(size=(2, 5, 6)).astype(np.float32)
    layer = Projection(8)
    rows = ops.convert_to_numpy(layer(x)).reshape(2, 5, 4, 2)
    np.testing.assert_allclose(project_heads(layer, x, 4), rows.transpose(0, 2, 1, 3), atol=1e-6)


def test_saved_weights_keep_kernel_and_adapters_apart(no_earlier_garbage, tmp_path):
    # Keras adapts no layer of float8.
    for mode, adapted in [("int8", True), ("int4", True), ("int4", False), ("float8", False)]:
        models = [keras.Sequential([keras.Input((6,)), Projection(5)]) for _ in range(2)]
        for (layer,) in (model.layers for model in models):
            layer.quantize(mode)
            if adapted:
                layer.enable_lora(2)
                layer.lora_kernel_b.assign(np.ones((2, 5)))
        models[0].save_weights(tmp_path / "one.weights.h5")
        models[1].load_weights(tmp_path / "one.weights.h5")
        same_weights(*models)


def test_copies_of_an_initializer_draw_numbers_of_their_own():
    initializer = keras.initializers.GlorotUniform()
    copies = [copy_initializer(initializer) for _ in range(2)]
    draws = [ops.convert_to_numpy(copy((3, 4))) for copy in (initializer, *copies)]
    assert len({draw.tobytes() for draw in draws}) == 3
    fixed = keras.initializers.GlorotUniform(seed=3)
    np.testing.assert_array_equal(copy_initializer(fixed)((3, 4)), fixed((3, 4)))
    assert copy_initializer(ops.ones) is ops.ones
