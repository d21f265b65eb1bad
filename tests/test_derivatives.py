import keras
import numpy as np
import pytest
from attention_of_heads import (
    CAUSAL,
    KV,
    B,
    G,
    H,
    K,
    S,
    T,
    attention_of,
    every_way,
    go,
    normal,
    run,
    some_inputs,
)
from keras import ops


@pytest.mark.parametrize("memory_batch", [B, 1])
@pytest.mark.parametrize("soft_cap", [None, 1.5])
@every_way("any size, xla")
def test_gradients_of_every_input_are_those_of_all_at_once(
    gradients, compiled, way, soft_cap, memory_batch
):
    inputs = some_inputs(memory_batch=memory_batch, terms=("bias", "keys", "values"))
    direction = normal(B, H, T, KV, seed=7)
    attention = attention_of(inputs, CAUSAL, soft_cap)

    def loss(*tensors):
        return ops.sum(ops.multiply(attention(*tensors), direction))

    expected = go(False, lambda: gradients(loss, *inputs.values()))
    found = go(True, lambda: gradients(run(way, compiled, loss), *inputs.values()))
    for name, gradient, at_once in zip(inputs, found, expected, strict=True):
        np.testing.assert_allclose(gradient, at_once, atol=2e-5, err_msg=name)


@every_way("graph", "any size, xla", slow=["any size"])
@pytest.mark.parametrize("by_blocks", [False, True])
def test_gradient_penalty_has_the_gradient_of_all_at_once(
    gradients, gradient_tensors, compiled, way, by_blocks
):
    inputs = some_inputs(terms=("bias", "keys", "values"))
    direction = normal(B, H, T, KV, seed=7)
    attention = attention_of(inputs, CAUSAL, soft_cap=1.5)

    def penalty(*tensors):
        def loss(*tensors):
            sums = attention(*tensors)
            return ops.sum(ops.multiply(sums, direction) + sums**2)

        return sum(ops.sum(g**2) for g in gradient_tensors(loss, *tensors))

    expected = go(False, lambda: gradients(penalty, *inputs.values()))
    found = go(by_blocks, lambda: gradients(run(way, compiled, penalty), *inputs.values()))
    for name, gradient, at_once in zip(inputs, found, expected, strict=True):
        scale = np.abs(at_once).max()
        np.testing.assert_allclose(gradient, at_once, atol=1e-5 * scale, err_msg=name)


def test_second_derivative_drops_what_was_dropped(gradients, gradient_tensors):
    inputs = some_inputs()
    del inputs["sinks"]

    def squares(*tensors):
        generator = keras.random.SeedGenerator(1)
        attention = attention_of(inputs, CAUSAL, dropout=0.5, seed_generator=generator)
        direction = normal(B, H, T, KV, seed=7)
        loss = lambda *tensors: ops.sum(ops.multiply(attention(*tensors), direction))  # noqa: E731
        found = gradient_tensors(loss, *tensors)[1]
        return ops.sum(ops.multiply(found, normal(B, S, G * K, seed=8)))

    first = go(True, lambda: gradients(squares, *inputs.values()))
    step = 1e-2
    for position in [(0, 0, 0), (0, 1, 3)]:
        sides = []
        for sign in (1, -1):
            moved = {name: x.copy() for name, x in inputs.items()}
            moved["v"][position] += sign * step
            tensors = [ops.convert_to_tensor(x) for x in moved.values()]
            sides.append(float(go(True, lambda tensors=tensors: squares(*tensors))))
        # The first derivative is linear in the values: the difference is exact but for rounding.
        difference = (sides[0] - sides[1]) / (2 * step)
        assert first[2][position] == pytest.approx(difference, abs=1e-3)
