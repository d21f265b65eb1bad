import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import MultiHeadAttention
from keras_attn.projection import (
    Projection,
    can_join,
    copy_initializer,
    project_heads,
    project_jointly,
)

X = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)


def test_computes_what_a_dense_layer_computes():
    layer, dense = Projection(5, activation="relu"), keras.layers.Dense(5, activation="relu")
    layer(X), dense(X)
    dense.set_weights(layer.get_weights())
    np.testing.assert_array_equal(layer(X), dense(X))


@pytest.mark.parametrize("use_bias", [False, True])
def test_one_product_gives_the_heads_of_each_layer(use_bias):
    x = np.random.default_rng(1).normal(size=(2, 5, 6)).astype(np.float32)
    layers = [Projection(8, use_bias=use_bias, bias_initializer="normal") for _ in range(3)]
    queries, *others = [project_heads(layer, x, 4) for layer in layers]
    joint = project_jointly(layers, ops.convert_to_tensor(x), 4, scale=0.5)
    for found, expected in zip(joint, [queries * 0.5, *others], strict=True):
        assert tuple(found.shape) == (2, 4, 5, 2)
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_layers_that_compute_more_than_a_product_are_not_joined():
    layers = [Projection(8) for _ in range(3)]
    for layer in layers:
        layer.build((None, 6))
    assert can_join(layers)
    layers[1].quantize("int8")
    assert not can_join(layers)
    observed = [Projection(8), Projection(8)]
    observed[0].call = lambda x: x
    assert not can_join(observed)


def test_attention_by_one_product_is_attention_by_three():
    x = np.random.default_rng(1).normal(size=(2, 5, 6)).astype(np.float32)
    layer = MultiHeadAttention(6, 3, use_bias=True, bias_initializer="normal")
    expected = layer(x, x, x, use_causal_mask=True)  # a value of its own: three products
    np.testing.assert_allclose(layer(x, x, use_causal_mask=True), expected, atol=1e-5)
    layer.enable_lora(2)
    adapter = layer._query_dense.lora_kernel_b
    adapter.assign(np.ones(adapter.shape))
    adapted = layer(x, x, x, use_causal_mask=True)
    assert (ops.convert_to_numpy(adapted) != ops.convert_to_numpy(expected)).any()
    np.testing.assert_allclose(layer(x, x, use_causal_mask=True), adapted, atol=1e-5)


@pytest.mark.parametrize("mode", ["int8", "int4", "float8"])
@pytest.mark.parametrize("adapted", [False, True])
def test_saved_weights_keep_kernel_and_adapters_apart(mode, adapted, tmp_path):
    if adapted and mode == "float8":
        pytest.skip("Keras adapts no layer of float8")
    models = [keras.Sequential([keras.Input((6,)), Projection(5)]) for _ in range(2)]
    for model in models:
        model.layers[0].quantize(mode)
        if adapted:
            model.layers[0].enable_lora(2)
            model.layers[0].lora_kernel_b.assign(np.ones((2, 5)))
    models[0].save_weights(tmp_path / "one.weights.h5")
    models[1].load_weights(tmp_path / "one.weights.h5")
    for mine, others in zip(*[model.layers[0].weights for model in models], strict=True):
        np.testing.assert_array_equal(ops.convert_to_numpy(mine), ops.convert_to_numpy(others))


def test_copies_of_an_initializer_draw_numbers_of_their_own():
    initializer = keras.initializers.GlorotUniform()
    copies = [copy_initializer(initializer) for _ in range(2)]
    draws = [ops.convert_to_numpy(copy((3, 4))) for copy in (initializer, *copies)]
    assert len({draw.tobytes() for draw in draws}) == 3
    fixed = copy_initializer(keras.initializers.GlorotUniform(seed=3))
    np.testing.assert_array_equal(fixed((3, 4)), keras.initializers.GlorotUniform(seed=3)((3, 4)))

    def ones(shape, dtype=None):
        return ops.ones(shape, dtype)

    assert copy_initializer(ones) is ones
