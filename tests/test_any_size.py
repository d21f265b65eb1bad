"""Attention in compiled functions: the choice between blocks and all at once, and its limits."""

import keras
import numpy as np
import pytest
from attention_of_heads import B, H, S, T, normal, small_blocks, some_inputs, some_layer
from keras import ops

from keras_attn import EncoderBlock, ShawRelativePosition, any_size

on_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="graphs of unknown sizes are TensorFlow's"
)
OPTIONS = {"num_kv_heads": 2, "soft_cap": 1.5, "use_sinks": True, "value_dim": 4}
MASKS = {"use_causal_mask": True, "valid_lens": [3, 0]}


def loss_of(layer):
    return lambda *inputs: ops.sum(layer(*inputs, **MASKS) ** 2)


def graph_of_any_size(function, jit_compile=False):
    """`function` of query, key and value, traced once for all sizes."""
    import tensorflow as tf

    signature = [tf.TensorSpec((None, None, x.shape[-1])) for x in some_inputs()]
    return tf.function(function, input_signature=signature, jit_compile=jit_compile)


def test_compiled_blocks_have_the_value_and_gradient_of_all_at_once(
    compiled, gradients, gradient_tensors
):
    layer, inputs = some_layer("shaw", **OPTIONS), some_inputs()
    loss = loss_of(layer)
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
def test_a_graph_of_unknown_length_decides_by_the_length_it_meets(
    gradients, gradient_tensors, monkeypatch, jit_compile
):
    layer = some_layer("t5", **OPTIONS)
    loss = loss_of(layer)
    monkeypatch.setattr(any_size, "BLOCKWISE_WEIGHTS", B * H * T * S)
    with small_blocks():
        graph = graph_of_any_size(
            lambda *inputs: [loss(*inputs), *gradient_tensors(loss, *inputs)], jit_compile
        )
        graph.get_concrete_function()
    for num_queries in (T, T - 1):
        inputs = some_inputs(num_queries)
        found = graph(*inputs)
        for unknown, eager in zip(found, [loss(*inputs), *gradients(loss, *inputs)], strict=True):
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
    for empty in ("B", "T", "S", "TS"):
        inputs = empty_inputs(empty)
        output = layer(*inputs, use_causal_mask=True)
        np.testing.assert_array_equal(output, np.zeros((*inputs[0].shape[:2], layer.num_hiddens)))
        found = gradients(lambda *x: ops.sum(layer(*x, use_causal_mask=True)), *inputs)
        assert all((gradient == 0).all() for gradient in found), empty


@on_tensorflow
@pytest.mark.parametrize(
    "jit_compile", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["graph", "xla"]
)
def test_empty_axes_of_unknown_size_give_empty_or_zero_sums(
    gradient_tensors, monkeypatch, jit_compile
):
    layer = some_layer("shaw", **OPTIONS)
    monkeypatch.setattr(any_size, "BLOCKWISE_WEIGHTS", 1)

    def call(*inputs):
        return layer(*inputs, use_causal_mask=True)

    graph = graph_of_any_size(
        lambda *x: [call(*x), *gradient_tensors(lambda *x: ops.sum(call(*x)), *x)], jit_compile
    )
    for empty in ("B", "T", "S", "TS"):
        inputs = empty_inputs(empty)
        output, *found = graph(*inputs)
        np.testing.assert_array_equal(output, np.zeros((*inputs[0].shape[:2], layer.num_hiddens)))
        assert all(not gradient.numpy().any() for gradient in found), empty


def empty_inputs(empty):
    batch_size, num_queries, num_keys = (
        0 if letter in empty else size for letter, size in zip("BTS", (B, T, S), strict=True)
    )
    query, key, value = some_inputs(num_queries, num_keys)
    return [query[:batch_size], key[:batch_size], value[:batch_size]]


def test_compiled_training_takes_any_length(compiles):
    x, weights = normal(4, T, 8), []
    for is_compiled in (False, True):
        inputs = keras.Input((None, 8))
        block = EncoderBlock(8, 16, 2, position=ShawRelativePosition(3))
        model = keras.Model(inputs, block(inputs))
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
