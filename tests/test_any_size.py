"""Attention in compiled functions: the choice between blocks and all at once, and its limits."""

import keras
import numpy as np
import pytest
from attention_of_heads import B, H, S, T, normal, small_blocks, some_inputs, some_layer
from keras import ops

from keras_attn import MultiHeadAttention, any_size

on_tensorflow = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="graphs of unknown sizes are TensorFlow's"
)
OPTIONS = {"num_kv_heads": 2, "soft_cap": 1.5, "use_sinks": True, "value_dim": 4}


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
    monkeypatch.setattr(any_size, "BLOCKWISE_WEIGHTS", B * H * T * S)

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
def test_a_persistent_tape_takes_a_graph_with_blocks(gradients):
    import tensorflow as tf

    layer, tensors = some_layer(blockwise=True), [tf.constant(x) for x in some_inputs()]
    with small_blocks():
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(tensors)
            output = tf.function(layer)(*tensors)
        found = tape.gradient(output, tensors)
    for mine, eager in zip(found, gradients(lambda *x: ops.sum(layer(*x)), *tensors), strict=True):
        np.testing.assert_allclose(mine, eager, atol=1e-4)


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
