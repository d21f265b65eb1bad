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
from keras import ops

from keras_attn import MultiHeadAttention
from keras_attn.layers import attend
from keras_attn.layers.dot_product import Inputs, Rules
from keras_attn.layers.masks import Masks

on_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="graphs of unknown sizes are TensorFlow's"
)
OPTIONS = {"num_kv_heads": 2, "soft_cap": 1.5, "use_sinks": True, "value_dim": 4}


either_way = pytest.mark.parametrize("blockwise", [False, True])


# The seeds together draw every option and every mask.
CASES = [
    ("shaw", 8),
    ("shaw", 5),
    ("t5", 6),
    ("t5", 13),
    ("alibi", 11),
    ("rotary", 10),
    ("none", 12),
]


@pytest.mark.parametrize("scheme, seed", CASES)
def test_blocks_give_the_values_and_gradients_of_all_at_once_whatever_the_padding_is(
    weight_gradients, scheme, seed
):
    layer, arguments, _ = some_call(scheme, seed)
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
    queries, keys = unpadded(arguments)
    for x, left in zip(inputs, (queries, keys, keys), strict=True):
        x.assign(np.where(left[..., None], x, np.nan))
    layer.blockwise = True
    with small_blocks():
        found = find()
    for by_blocks, at_once in zip(found, expected, strict=True):
        np.testing.assert_allclose(by_blocks, at_once, rtol=1e-4, atol=1e-4)


def test_future_reaches_neither_value_nor_gradient_of_the_past(gradients):
    x = normal(B, T, 8)
    layer = some_layer("t5", [x, x], blockwise=True, soft_cap=2.0)
    with small_blocks():
        expected = ops.convert_to_numpy(layer(x, x, use_causal_mask=True))
        (gradient,) = gradients(lambda x: ops.sum(layer(x, x, use_causal_mask=True)[:, :4]), x)
        x[:, 4] = 1e3
        output = ops.convert_to_numpy(layer(x, x, use_causal_mask=True))
    assert (gradient[:, 4:] == 0).all() and (gradient[:, :4] != 0).any()
    np.testing.assert_array_equal(output[:, :4], expected[:, :4])
    assert (output[:, 4:] != expected[:, 4:]).any(-1).all()


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
    for compiled_one, eager in zip(found, expected, strict=True):
        np.testing.assert_allclose(compiled_one, eager, rtol=1e-4, atol=1e-4)


@on_tensorflow
@pytest.mark.parametrize(
    "jit_compile", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["graph", "xla"]
)
def test_a_graph_of_unknown_sizes_decides_by_those_it_meets_and_takes_empty_ones(
    gradients, gradient_tensors, monkeypatch, jit_compile
):
    layer = some_layer("t5", **OPTIONS)
    monkeypatch.setattr(attend, "BLOCKWISE_WEIGHTS", B * H * T * S)

    def call(*inputs):
        return layer(*inputs, use_causal_mask=True)

    def loss(*inputs):
        return ops.sum(call(*inputs) ** 2)

    with small_blocks():
        graph = graph_of_any_size(lambda *x: [call(*x), *gradient_tensors(loss, *x)], jit_compile)
    for inputs in (some_inputs(), some_inputs(T - 1), *empty_inputs()):
        expected = [call(*inputs), *gradients(loss, *inputs)]
        for unknown, eager in zip(graph(*inputs), expected, strict=True):
            np.testing.assert_allclose(unknown, eager, rtol=1e-4, atol=1e-4)


@on_tensorflow
def test_without_blocks_a_graph_of_unknown_length_has_no_branches():
    def branches(blockwise):
        layer = some_layer(blockwise=blockwise)
        graph = graph_of_any_size(lambda *inputs: layer(*inputs, use_causal_mask=True))
        operations = graph.get_concrete_function().graph.get_operations()
        return {operation.type for operation in operations} & {"If", "StatelessIf"}

    assert branches(None)
    assert not branches(False)


@pytest.mark.parametrize("blockwise", [False, True])
def test_empty_axes_give_empty_or_zero_sums(gradients, blockwise):
    layer = some_layer("shaw", blockwise=blockwise, **OPTIONS)
    for inputs in empty_inputs():
        output = layer(*inputs, use_causal_mask=True)
        np.testing.assert_array_equal(output, np.zeros((*inputs[0].shape[:2], layer.num_hiddens)))
        found = gradients(lambda *x: ops.sum(layer(*x, use_causal_mask=True)), *inputs)
        assert not any(gradient.any() for gradient in found), [x.shape for x in inputs]


def test_compiled_training_takes_any_length(compiles):
    x, weights = normal(4, T, 8), []
    for is_compiled in (False, True):
        entry = keras.Input((None, 8))
        model = keras.Model(entry, MultiHeadAttention(8, 2)(entry, entry))
        for i, weight in enumerate(model.weights):
            weight.assign(normal(*weight.shape, seed=i) * 0.3)
        options = {"jit_compile": compiles} if is_compiled else {"run_eagerly": True}
        model.compile("sgd", "mse", **options)
        for length in (T, 4):
            model.train_on_batch(x[:, :length], x[:, :length])
        weights.append(model.get_weights())
    for plain, by_compiler in zip(*weights, strict=True):
        assert np.isfinite(plain).all()
        np.testing.assert_allclose(by_compiler, plain, atol=1e-4)


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

    expected = find()
    layer.blockwise = True
    with small_blocks():
        found = find()
    for by_blocks, at_once in zip(found, expected, strict=True):
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


SHAPES = [(B, H, T, D), (B, 2, S, D), (B, 2, S, D)]
KEYS = np.random.default_rng(1).random((B, S)) < 0.5


@pytest.mark.skipif(keras.backend.backend() == "tensorflow", reason="it has no kernel")
def test_kernel_gives_the_sums_and_gradients_of_the_weights(gradients, monkeypatch):
    arrays = [normal(*shape, seed=seed) for seed, shape in enumerate(SHAPES)]
    calls = []
    kernel = attend._call_kernel
    monkeypatch.setattr(attend, "_call_kernel", lambda *args: calls.append(args) or kernel(*args))
    for given in (
        {},
        {"attention_mask": np.random.default_rng(1).random((B, H, T, S)) < 0.5},
        {"key_mask": KEYS},
        {"use_causal_mask": True},
        {"valid_lens": [0, 0]},
    ):
        masks = Masks(**given, num_queries=T, num_keys=S)
        results = []
        for needs_weights in (False, True):

            def sums(*x, masks=masks, needs_weights=needs_weights):
                return attend.attend(Inputs(*x), masks, Rules(), needs_weights)[0]

            found = gradients(lambda *x, sums=sums: ops.sum(sums(*x) ** 2), *arrays)
            results.append([sums(*map(ops.convert_to_tensor, arrays)), *found])
        for mine, other in zip(*results, strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-4)
    assert len(calls) == 10
    keras.config.disable_flash_attention()
    try:
        attend.attend(Inputs(*map(ops.convert_to_tensor, arrays)), Masks(num_queries=T, num_keys=S))
    finally:
        keras.config.enable_flash_attention()
    assert len(calls) == 10


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="forward mode is JAX's")
def test_forward_mode_takes_blocks():
    import jax

    layer, x = some_layer("t5", [normal(B, T, 8)] * 2), normal(B, T, 8)
    tangent, found = normal(B, T, 8, seed=4), []
    for blockwise in (False, True):
        layer.blockwise = blockwise
        with small_blocks():
            found.append(jax.jvp(lambda x: layer(x, x, use_causal_mask=True), (x,), (tangent,)))
    for at_once, by_blocks in zip(*found, strict=True):
        np.testing.assert_allclose(by_blocks, at_once, atol=1e-4)


@on_tensorflow
@pytest.mark.parametrize("limit", [1, 2**28], ids=["blocks", "at once"])
def test_trained_tables_have_their_gradient_once_in_a_graph_of_any_size(
    weight_gradients, monkeypatch, limit
):
    import tensorflow as tf

    layer, inputs = some_layer("shaw", **OPTIONS), some_inputs()
    expected = weight_gradients(layer, lambda: ops.sum(layer(*inputs) ** 2))
    monkeypatch.setattr(attend, "BLOCKWISE_WEIGHTS", limit)

    def find(*inputs):
        with tf.GradientTape() as tape:
            loss = ops.sum(layer(*inputs) ** 2)
        return tape.gradient(loss, [v.value for v in layer.trainable_variables])

    with small_blocks():
        found = graph_of_any_size(find)(*inputs)
    for mine, eager in zip(found, expected, strict=True):
        np.testing.assert_allclose(tf.convert_to_tensor(mine), eager, rtol=1e-4, atol=1e-4)
