import keras
import numpy as np
import pytest
from attention_of_heads import B, H, S, T, go, normal
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn import (
    AlibiBias,
    EncoderBlock,
    MultiHeadAttention,
    RotaryEmbedding,
    ShawRelativePosition,
    T5RelativeBias,
)

D = 12
SCHEMES = [
    lambda: None,
    lambda: ShawRelativePosition(3),
    lambda: T5RelativeBias(8, 20),
    AlibiBias,
    RotaryEmbedding,
]


def attention(**kwargs):
    layer = MultiHeadAttention(D, H, **kwargs)
    layer.build((None, None, D), (None, None, D))
    random = np.random.default_rng(1)
    for weight in layer.trainable_variables:
        weight.assign(random.normal(size=weight.shape) * 0.5)
    return layer


def some_masks(random):
    """Any combination of masks."""
    masks = {
        "valid_lens": random.integers(0, S + 1, (B, T) if random.random() < 0.5 else (B,)),
        "attention_mask": random.random(
            [(T, S), (1, T, S), (B, 1, S), (B, H, T, S)][random.integers(4)]
        )
        < 0.7,
        "use_causal_mask": True,
        "query_mask": random.random((B, T)) < 0.7,
        "key_mask": random.random((B, S)) < 0.7,
        "value_mask": random.random((B, S)) < 0.7,
    }
    return {name: mask for name, mask in masks.items() if random.random() < 0.5}


@settings(deadline=None, max_examples=8, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    make=st.sampled_from(SCHEMES),
    num_kv_heads=st.sampled_from([1, 2, 4]),
    window=st.sampled_from([None, 2]),
    block_queries=st.sampled_from([2, 3, 512]),
    block_weights=st.sampled_from([1, 30, 2**23]),
)
def test_blocks_give_the_values_and_gradients_of_all_at_once(
    gradients, seed, make, num_kv_heads, window, block_queries, block_weights
):
    random = np.random.default_rng(seed)
    layer = attention(position=make(), num_kv_heads=num_kv_heads, window=window)
    masks, start = some_masks(random), int(random.integers(3))
    query, key = normal(B, T, D, seed=seed), normal(B, S, D, seed=seed + 1)
    direction = normal(B, T, D)

    def loss(query, key):
        return ops.sum(ops.multiply(layer(query, key, start=start, **masks), direction))

    def find():
        output = ops.convert_to_numpy(layer(query, key, start=start, **masks))
        return [output, *gradients(loss, query, key)]

    found = [go(by_blocks, find, block_queries, block_weights) for by_blocks in (False, True)]
    for all_at_once, by_blocks in zip(*found, strict=True):
        np.testing.assert_allclose(by_blocks, all_at_once, atol=5e-5)


@pytest.mark.parametrize("make", SCHEMES)
def test_gradients_of_the_weights_are_those_of_all_at_once(weight_gradients, make):
    layer = attention(position=make(), num_kv_heads=2, use_bias=True)
    x, direction = normal(B, T, D), normal(B, T, D, seed=3)

    def find():
        return weight_gradients(
            layer, lambda: ops.sum(ops.multiply(layer(x, x, use_causal_mask=True), direction))
        )

    for all_at_once, by_blocks in zip(go(False, find), go(True, find), strict=True):
        np.testing.assert_allclose(by_blocks, all_at_once, atol=5e-5)


def test_what_stands_behind_the_mask_reaches_neither_output_nor_gradient(weight_gradients):
    layer = attention()
    query, key = normal(B, T, D), normal(B, S, D, seed=3)
    masks = {"valid_lens": [3, 0], "query_mask": np.arange(T) < np.array([[4], [T]])}
    expected = go(True, lambda: layer(query, key, **masks))
    query[0, 4:] = np.nan
    key[0, 3:], key[1] = np.inf, np.nan

    def find():
        return weight_gradients(layer, lambda: ops.sum(layer(query, key, **masks) ** 2))

    np.testing.assert_array_equal(go(True, lambda: layer(query, key, **masks)), expected)
    for gradient in go(True, find):
        assert np.isfinite(gradient).all()


def test_key_that_only_the_future_sees_does_not_spoil_the_past():
    layer = attention()
    x = normal(B, T, D)
    expected = go(True, lambda: layer(x, x, use_causal_mask=True))
    x[:, 4] = np.nan
    output = ops.convert_to_numpy(go(True, lambda: layer(x, x, use_causal_mask=True)))
    np.testing.assert_array_equal(output[:, :4], expected[:, :4])
    assert np.isnan(output[:, 4:]).all()


def test_value_that_is_not_finite_spoils_every_query_where_nothing_is_masked():
    layer = attention()
    query, key = normal(B, T, D), normal(B, S, D, seed=3)
    key[0, 2] = np.inf
    output = ops.convert_to_numpy(go(True, lambda: layer(query, key)))
    assert np.isnan(output[0]).all() and np.isfinite(output[1]).all()


def test_gradient_drops_the_weights_that_were_dropped(gradients):
    layer = attention(dropout=0.5)
    query, key, value = normal(B, T, D), normal(B, S, D, seed=3), normal(B, S, D, seed=4)
    direction = normal(B, T, D, seed=5)
    losses = []

    def loss(value):
        output = layer(query, key, value, training=True)
        losses.append(ops.sum(ops.multiply(output, direction)))
        return losses[-1]

    (gradient,) = go(True, lambda: gradients(loss, value))
    # The output is linear in the values: by Euler's theorem the loss is gradient times value.
    if hasattr(losses[0], "primal"):
        losses[0] = losses[0].primal
    assert np.sum(gradient * value) == pytest.approx(float(losses[0]), rel=1e-4)


def test_dropout_drops_about_its_rate_and_differs_from_block_to_block():
    layer = attention(dropout=0.4)
    one = np.ones((1, 200, D), np.float32)
    # Keys that differ: of equal keys, only the number of those dropped would count.
    keys = one + 0.1 * normal(1, 200, D)
    outputs = go(True, lambda: layer(one, keys, training=True), block_queries=50)
    rows = ops.convert_to_numpy(outputs)[0]
    calm = ops.convert_to_numpy(layer(one, keys))[0, 0]
    np.testing.assert_allclose(rows.mean(0), calm, atol=0.05 * np.abs(calm).max() + 0.02)
    assert len(np.unique(rows.round(5), axis=0)) == 200


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("by_blocks", [False, True])
def test_sizes_known_at_run_time_only_decide_at_run_time(compiled, jit_compile, by_blocks):
    layer = attention(position=RotaryEmbedding())
    query, key = normal(B, T, D), normal(B, S, D, seed=3)
    expected = layer(query, key, valid_lens=[4, 0])

    def call(query, key):
        return layer(query, key, valid_lens=[4, 0])

    graph = compiled(call, jit_compile=jit_compile, any_size=True)
    np.testing.assert_allclose(go(by_blocks, lambda: graph(query, key)), expected, atol=1e-5)


def test_weights_are_given_where_blocks_would_pay():
    layer = attention()
    query, key = normal(B, T, D), normal(B, S, D, seed=3)
    expected = go(True, lambda: layer(query, key, valid_lens=[4, 0]))
    output, weights = go(
        True, lambda: layer(query, key, valid_lens=[4, 0], return_attention_scores=True)
    )
    np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(ops.convert_to_numpy(weights)[0].sum(-1), 1.0, atol=1e-5)


@pytest.mark.parametrize("make", [SCHEMES[0], SCHEMES[1], SCHEMES[2]])
def test_compiled_training_takes_any_length(compiles, make):
    x = normal(4, T, 8)
    weights = []
    for jit_compile in (False, compiles):
        inputs = keras.Input((None, 8))
        block = EncoderBlock(8, 16, 2, position=make())
        model = keras.Model(inputs, block(inputs))
        for i, weight in enumerate(model.weights):
            weight.assign(normal(*weight.shape, seed=i) * 0.3)
        model.compile("sgd", "mse", jit_compile=jit_compile)
        for length in (T, 4, 6):
            model.fit(x[:, :length], x[:, :length], verbose=0, shuffle=False)
        weights.append(model.get_weights())
    for plain, by_compiler in zip(*weights, strict=True):
        assert np.isfinite(plain).all()
        np.testing.assert_allclose(by_compiler, plain, atol=1e-4)


def test_the_option_chooses_the_path_whatever_the_sizes():
    x, lengths = normal(B, T, D), [4, 0]
    layers = [attention(blockwise=blockwise) for blockwise in (None, True, False)]
    expected, *others = (layer(x, x, valid_lens=lengths) for layer in layers)
    for output in others:
        np.testing.assert_allclose(output, expected, atol=1e-5)
    with pytest.raises(ValueError, match="`blockwise` must be True or False"):
        MultiHeadAttention(D, H, blockwise="auto")


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="graphs of TensorFlow")
def test_without_blocks_a_graph_of_unknown_length_has_no_branches():
    import tensorflow as tf

    def branches(blockwise):
        layer = attention(blockwise=blockwise)
        inputs = tf.TensorSpec((None, None, D), tf.float32)
        graph = tf.function(lambda x: layer(x, x, use_causal_mask=True))
        operations = graph.get_concrete_function(inputs).graph.get_operations()
        return {operation.type for operation in operations} & {"If", "StatelessIf"}

    assert branches(None)
    assert not branches(False)
