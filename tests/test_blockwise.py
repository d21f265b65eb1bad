"""Attention block by block: values, gradients and masks of attention of all at once."""

from types import SimpleNamespace

import keras
import numpy as np
import pytest
from attention_of_heads import (
    B,
    D,
    H,
    S,
    T,
    formula,
    normal,
    number,
    small_blocks,
    some_call,
    some_inputs,
    some_layer,
)
from keras import ops

from keras_attn import MultiHeadAttention

either_way = pytest.mark.parametrize("blockwise", [False, True])


FEW_QUERIES, FEW_WEIGHTS = {"queries": 3}, {"queries": 512, "weights": 130}
# The seeds together draw every option and every mask.
CASES = [("shaw", 8, FEW_QUERIES), ("shaw", 5, FEW_WEIGHTS), ("t5", 6, FEW_QUERIES)]
CASES += [("t5", 13, FEW_WEIGHTS), ("alibi", 11, FEW_QUERIES), ("rotary", 10, FEW_QUERIES)]
CASES += [("none", 12, {"queries": 512, "weights": 40})]


@pytest.mark.parametrize("scheme, seed, sizes", CASES)
def test_blocks_give_the_values_and_gradients_of_all_at_once_whatever_is_behind_the_mask(
    weight_gradients, scheme, seed, sizes
):
    layer, arguments, allowed = some_call(scheme, seed)
    inputs = [keras.Variable(x) for x in some_inputs()]
    direction = normal(B, T, layer.compute_output_shape((B, T, 9))[-1])

    def call():
        return layer(*(x.value for x in inputs), **arguments)

    def find():
        variables = SimpleNamespace(trainable_variables=[*inputs, *layer.trainable_variables])
        loss = weight_gradients(variables, lambda: ops.sum(ops.multiply(call(), direction)))
        return [call(), *loss]

    layer.blockwise = False
    expected = find()
    for x, unseen in zip(inputs, ((1, 3), (1, 2), (1, 2)), strict=True):
        x.assign(np.where(allowed.any(unseen)[..., None], x, np.nan))
    layer.blockwise = True
    with small_blocks(**sizes):
        found = find()
    for by_blocks, at_once in zip(found, expected, strict=True):
        np.testing.assert_allclose(by_blocks, at_once, rtol=1e-4, atol=1e-4)


@either_way
def test_value_that_is_not_finite_spoils_the_queries_that_see_it_and_no_other(blockwise):
    layer = some_layer(blockwise=blockwise, num_kv_heads=2)
    query, key, value = some_inputs()
    mask = np.random.default_rng(5).random((B, T, S)) < 0.5
    with small_blocks():
        expected = ops.convert_to_numpy(layer(query, key, value, attention_mask=mask))
        value[0, 2, 1], value[1, 3] = np.inf, np.nan
        output = ops.convert_to_numpy(layer(query, key, value, attention_mask=mask))
        unmasked = ops.convert_to_numpy(layer(query, key, value))
    spoilt = np.stack([mask[0, :, 2], mask[1, :, 3]])
    assert np.isnan(output[spoilt]).all() and np.isnan(unmasked).all()
    np.testing.assert_array_equal(output[~spoilt], expected[~spoilt])


def test_future_reaches_neither_value_nor_gradient_of_the_past(gradients):
    x = normal(B, T, 8)
    layer = some_layer("t5", [x, x], blockwise=True, soft_cap=2.0)
    with small_blocks():
        expected = ops.convert_to_numpy(layer(x, x, use_causal_mask=True))
        (gradient,) = gradients(lambda x: ops.sum(layer(x, x, use_causal_mask=True)[:, :4]), x)
        x[:, 4] = np.nan
        output = ops.convert_to_numpy(layer(x, x, use_causal_mask=True))
    assert (gradient[:, 4:] == 0).all() and (gradient[:, :4] != 0).any()
    np.testing.assert_array_equal(output[:, :4], expected[:, :4])
    assert np.isnan(output[:, 4:]).all()


@either_way
def test_half_floats_whose_products_overflow_give_numbers(gradients, blockwise):
    layer = MultiHeadAttention(8, 2, dtype="float16", blockwise=blockwise)  # 1 / sqrt(K) is exact
    x = (40 * normal(B, T, 8)).astype(np.float16)
    x[0, 0] = 300  # 4 * 300 * 300 / 2 is above 65504
    layer.build(x.shape)
    layer.set_weights([np.eye(8)] * 4)

    def call(x):
        return ops.cast(layer(x, x, x / 100, use_causal_mask=True), "float32")

    assert keras.backend.standardize_dtype(layer(x, x).dtype) == "float16"
    expected, _ = formula(layer, x, x, x / 100, np.tri(T, dtype=bool))
    with small_blocks():
        np.testing.assert_allclose(call(x), expected, atol=2e-3)
        (found,) = gradients(lambda x: ops.sum(call(x)), x)
    assert np.isfinite(found).all()


def test_keys_of_one_example_serve_all_queries(gradients):
    query, key, value = some_inputs(memory_batch=1)
    layer = some_layer("shaw", blockwise=True, num_kv_heads=2)
    masks = {"use_causal_mask": True, "valid_lens": [4, 2]}
    direction = normal(B, T, D)

    def loss(*inputs):
        return ops.sum(ops.multiply(layer(*inputs, **masks), direction))

    with small_blocks():
        found = gradients(loss, query, key, value)
        expected = gradients(loss, query, *(np.repeat(x, B, axis=0) for x in (key, value)))
    np.testing.assert_allclose(found[0], expected[0], atol=1e-4)
    for gradient, repeated in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(gradient, repeated.sum(0, keepdims=True), atol=1e-4)


def test_gradient_drops_the_weights_that_were_dropped(gradients):
    layer = some_layer(dropout=0.5, blockwise=True)
    query, key, value = some_inputs()
    direction = normal(B, T, D)
    losses = []

    def loss(value):
        output = layer(query, key, value, training=True)
        losses.append(ops.sum(ops.multiply(output, direction)))
        return losses[-1]

    with small_blocks():
        (gradient,) = gradients(loss, value)
    # The output is linear in the values: by Euler's theorem the loss is gradient times value.
    assert np.sum(gradient * value) == pytest.approx(number(losses[0]), rel=1e-4)


def test_dropout_drops_about_its_rate_and_differs_from_block_to_block():
    one = np.ones((1, 200, 8), np.float32)
    # Keys that differ: of equal keys, only the number of those dropped would count.
    keys = one + 0.1 * normal(1, 200, 8)
    layer = some_layer(inputs=[one, keys], dropout=0.4, blockwise=True)
    with small_blocks(queries=50):
        rows = ops.convert_to_numpy(layer(one, keys, training=True))[0]
        calm = ops.convert_to_numpy(layer(one, keys))[0, 0]
    np.testing.assert_allclose(rows.mean(0), calm, atol=0.05 * np.abs(calm).max() + 0.02)
    assert len(np.unique(rows.round(5), axis=0)) == 200


def test_asking_for_the_weights_gives_them_in_spite_of_blocks():
    layer = some_layer("t5", blockwise=True)
    inputs = some_inputs()
    output, weights = layer(*inputs, valid_lens=[4, 0], return_attention_scores=True)
    with small_blocks():
        np.testing.assert_allclose(layer(*inputs, valid_lens=[4, 0]), output, atol=1e-4)
    expected = [np.ones((H, T)), np.zeros((H, T))]
    np.testing.assert_allclose(ops.convert_to_numpy(weights).sum(-1), expected, atol=1e-5)
