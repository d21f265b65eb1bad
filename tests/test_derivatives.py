"""Second derivatives of attention block by block."""

import numpy as np
import pytest
from attention_of_heads import B, D, T, normal, number, small_blocks, some_inputs, some_layer
from keras import ops


@pytest.mark.parametrize(
    "scheme, way",
    [
        ("shaw", "eager"),
        ("t5", "eager"),
        pytest.param("shaw", "graph", marks=pytest.mark.slow),
        pytest.param("shaw", "xla", marks=pytest.mark.slow),
    ],
)
def test_gradient_penalty_has_the_gradient_of_all_at_once(
    gradients, weight_gradients, gradient_tensors, compiled, scheme, way
):
    layer = some_layer(scheme, num_kv_heads=2, soft_cap=1.5, use_sinks=True, value_dim=4)
    inputs, direction = some_inputs(), normal(B, T, D)

    def loss(*inputs):
        output = layer(*inputs, use_causal_mask=True, valid_lens=[3, 0])
        return ops.sum(ops.multiply(output, direction) + output**2)

    def penalty(*inputs):
        return sum(ops.sum(g**2) for g in gradient_tensors(loss, *inputs))

    def find(penalty):
        found = gradients(penalty, *inputs)
        if way == "eager":  # a compiled function of JAX keeps the weights of its first call
            tensors = [ops.convert_to_tensor(x) for x in inputs]
            found += weight_gradients(layer, lambda: penalty(*tensors))
        return found

    expected = find(penalty)
    layer.blockwise = True
    with small_blocks():
        found = find(penalty if way == "eager" else compiled(penalty, jit_compile=way == "xla"))
    for by_blocks, at_once in zip(found, expected, strict=True):
        scale = max(np.abs(at_once).max(), 1.0)
        np.testing.assert_allclose(by_blocks, at_once, atol=1e-5 * scale)


def test_second_derivative_drops_what_was_dropped(gradients, gradient_tensors):
    layer = some_layer(dropout=0.5, blockwise=True)
    query, key, value = some_inputs()
    direction, of_query = normal(B, T, D), normal(*query.shape, seed=3)
    found = []

    def slope(value):
        def loss(query, value):
            return ops.sum(ops.multiply(layer(query, key, value, training=True), direction))

        (gradient, _) = gradient_tensors(loss, ops.convert_to_tensor(query), value)
        found.append(ops.sum(ops.multiply(gradient, of_query)))
        return found[-1]

    with small_blocks():
        (gradient,) = gradients(slope, value)
    # The first derivative is linear in the values: it is its gradient times the values.
    assert np.sum(gradient * value) == pytest.approx(number(found[0]), rel=1e-4)
