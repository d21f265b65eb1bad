"""Attention at once, in blocks and by a backend's kernel: one value, one gradient."""

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
    unpadded,
)
from every_layer import all_same
from keras import ops

from keras_attn import MultiHeadAttention
from keras_attn.layers import attend
from keras_attn.layers.dot_product import Inputs, Rules
from keras_attn.layers.masks import Masks

on_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="graphs of unknown sizes are TensorFlow's"
)
either_way = pytest.mark.parametrize("blockwise", [False, True])
OPTIONS = {"num_kv_heads": 2, "soft_cap": 1.5, "use_sinks": True, "value_dim": 4}


def in_both_ways(layer, find):
    """Results of `find` with all weights at once and with small blocks."""
    results = []
    for layer.blockwise in (False, True):
        with small_blocks():
            results.append(find())
    return results


# The seeds together draw every option and every mask.
@pytest.mark.parametrize(
    "scheme, seed",
    [("shaw", 8), ("shaw", 5), ("t5", 6), ("t5", 13), ("alibi", 11), ("rotary", 10), ("none", 12)],
)
def test_blocks_give_the_values_and_gradients_of_all_at_once_whatever_the_padding_is(
    weight_gradients, scheme, seed
):
    layer, arguments, _ = some_call(scheme, seed)
    inputs = [keras.Variable(x) for x in some_inputs()]
    direction = normal(B, T, layer.compute_output_shape((B, T, 9))[-1])

    def call(**options):
        return layer(*(x.value for x in inputs), **arguments, **options)

    def find():
        variables = SimpleNamespace(trainable_variables=[*inputs, *layer.trainable_variables])
        loss = weight_gradients(variables, lambda: ops.sum(ops.multiply(call(), direction)))
        return [*loss, call(), *call(return_attention_scores=True)]

    layer.blockwise = False
    expected = find()
    queries, keys = unpadded(arguments)
    seen = (queries, keys, keys)
    for x, rows in zip(inputs, seen, strict=True):
        x.assign(np.where(rows[..., None], x, np.nan))
    at_once, by_blocks = in_both_ways(layer, find)
    all_same(at_once, expected)
    all_same(by_blocks, expected, rtol=1e-4, atol=1e-4)
    for gradient, rows in zip(at_once[:3] + by_blocks[:3], seen + seen, strict=True):
        assert not gradient[~rows].any()


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


def graph_of_any_size(function, jit_compile=False):
    """`function` of query, key and value, traced once for all sizes."""
    import tensorflow as tf

    signature = [tf.TensorSpec((None, None, x.shape[-1])) for x in some_inputs()]
    graph = tf.function(function, input_signature=signature, jit_compile=jit_compile)
    graph.get_concrete_function()
    return graph


def empty_inputs():
    for empty in ("B", "T", "S", "TS"):
        sizes = (0 if letter in empty else size for letter, size in zip("TS", (T, S), strict=True))
        yield [x[: 0 if empty == "B" else B] for x in some_inputs(*sizes)]


def test_compiled_blocks_have_the_value_and_gradient_of_all_at_once(
    compiled, gradients, gradient_tensors
):
    layer, inputs = some_layer("shaw", **OPTIONS), some_inputs()

    def loss(*inputs):
        return ops.sum(layer(*inputs, use_causal_mask=True, valid_lens=[3, 0]) ** 2)

    expected = [loss(*inputs), *gradients(loss, *inputs)]
    layer.blockwise = True

    def find(*inputs):
        return [loss(*inputs), *gradient_tensors(loss, *inputs)]

    with small_blocks():
        found = compiled(find)(*map(ops.convert_to_tensor, inputs))
    all_same(found, expected, rtol=1e-4, atol=1e-4)


@on_tensorflow
@pytest.mark.parametrize(
    "jit_compile", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["graph", "xla"]
)
def test_a_graph_of_unknown_sizes_decides_by_those_it_meets_and_takes_empty_ones(
    gradients, gradient_tensors, weight_gradients, monkeypatch, jit_compile
):
    layer = some_layer("t5", **OPTIONS)
    monkeypatch.setattr(attend, "BLOCKWISE_WEIGHTS", B * H * T * S)

    def call(*inputs):
        return layer(*inputs, use_causal_mask=True)

    def loss(*inputs):
        return ops.sum(call(*inputs) ** 2)

    def find(*inputs):
        tables = [variable.value for variable in layer.trainable_variables]
        found = gradient_tensors(lambda *tensors: loss(*tensors[:3]), *inputs, *tables)
        return [call(*inputs), *found]

    with small_blocks():
        graph = graph_of_any_size(find, jit_compile)
    for inputs in (some_inputs(), some_inputs(T - 1), *empty_inputs()):
        of_weights = weight_gradients(layer, lambda inputs=inputs: loss(*inputs))
        expected = [call(*inputs), *gradients(loss, *inputs), *of_weights]
        all_same(graph(*inputs), expected, rtol=1e-4, atol=1e-4)


@on_tensorflow
def test_without_blocks_a_graph_of_unknown_length_has_no_branches():
    def branches(blockwise):
        layer = some_layer(blockwise=blockwise)
        graph = graph_of_any_size(lambda *inputs: layer(*inputs, use_causal_mask=True))
        operations = graph.get_concrete_function().graph.get_operations()
        return {operation.type for operation in operations} & {"If", "StatelessIf"}

    assert branches(None)
    assert not branches(False)


@either_way
def test_empty_axes_give_empty_or_zero_sums(gradients, blockwise):
    layer = some_layer("shaw", blockwise=blockwise, **OPTIONS)
    for inputs in empty_inputs():
        output = layer(*inputs, use_causal_mask=True)
        np.testing.assert_array_equal(output, np.zeros((*inputs[0].shape[:2], layer.num_hiddens)))
        found = gradients(lambda *x: ops.sum(layer(*x, use_causal_mask=True)), *inputs)
        assert not any(gradient.any() for gradient in found), [x.shape for x in inputs]


@pytest.mark.skipif(keras.backend.backend() == "tensorflow", reason="refused there")
@pytest.mark.parametrize("scheme", ["shaw", "t5"])
def test_gradient_penalty_has_the_gradient_of_all_at_once(
    gradients, weight_gradients, gradient_tensors, scheme
):
    layer = some_layer(scheme, **OPTIONS)
    inputs, direction = some_inputs(), normal(B, T, D)

    def loss(*inputs):
        output = layer(*inputs, use_causal_mask=True, valid_lens=[3, 0])
        return ops.sum(ops.multiply(output, direction) + output**2)

    def penalty(*inputs):
        return sum(ops.sum(g**2) for g in gradient_tensors(loss, *inputs))

    def find():
        tensors = [ops.convert_to_tensor(x) for x in inputs]
        return gradients(penalty, *inputs) + weight_gradients(layer, lambda: penalty(*tensors))

    for at_once, by_blocks in zip(*in_both_ways(layer, find), strict=True):
        scale = max(np.abs(at_once).max(), 1.0)
        np.testing.assert_allclose(by_blocks, at_once, atol=1e-5 * scale)


@on_tensorflow
def test_a_second_derivative_in_blocks_names_what_gives_it(gradients, gradient_tensors):
    layer, x = some_layer("t5", [normal(B, T, 8)] * 2, blockwise=True), normal(B, T, 8)

    def penalty(x):
        (slope,) = gradient_tensors(lambda x: ops.sum(layer(x, x) ** 2), x)
        return ops.sum(slope**2)

    with pytest.raises(NotImplementedError, match="blockwise=False"):
        gradients(penalty, x)
    layer.blockwise = False
    (found,) = gradients(penalty, x)
    step = 1e-2 * normal(B, T, 8, seed=4)
    ahead, behind = (number(penalty(ops.convert_to_tensor(x + s))) for s in (step, -step))
    assert np.sum(found * step) == pytest.approx((ahead - behind) / 2, rel=1e-2)


@pytest.mark.skipif(keras.backend.backend() == "tensorflow", reason="it has no kernel")
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"attention_mask": np.random.default_rng(1).random((B, H, T, S)) < 0.5},
        {"key_mask": np.random.default_rng(1).random((B, S)) < 0.5},
        {"use_causal_mask": True},
        {"valid_lens": [0, 0]},
    ],
    ids=lambda given: ", ".join(given),
)
def test_kernel_gives_the_sums_and_gradients_of_the_weights(gradients, monkeypatch, given):
    arrays = [normal(B, H, T, D), normal(B, 2, S, D, seed=1), normal(B, 2, S, D, seed=3)]
    masks, calls = Masks(**given, num_queries=T, num_keys=S), []
    kernel = attend._call_kernel
    monkeypatch.setattr(attend, "_call_kernel", lambda *args: calls.append(args) or kernel(*args))

    def find(needs_weights):
        def sums(*x):
            return attend.attend(Inputs(*x), masks, Rules(), needs_weights)[0]

        found = gradients(lambda *x: ops.sum(sums(*x) ** 2), *arrays)
        return [sums(*map(ops.convert_to_tensor, arrays)), *found]

    all_same(find(needs_weights=False), find(needs_weights=True), atol=1e-4)
    assert len(calls) == 2
    keras.config.disable_flash_attention()
    try:
        find(needs_weights=False)
    finally:
        keras.config.enable_flash_attention()
    assert len(calls) == 2


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="forward mode is JAX's")
def test_forward_mode_takes_blocks():
    import jax

    x, tangent = normal(B, T, 8), normal(B, T, 8, seed=4)
    layer = some_layer("t5", [x, x])

    def find():
        return jax.jvp(lambda x: layer(x, x, use_causal_mask=True), (x,), (tangent,))

    all_same(*in_both_ways(layer, find), atol=1e-4)
