import numpy as np
import pytest
from every_layer import same_slopes
from keras import ops

from keras_attn import FeedForward

X = np.random.default_rng(0).normal(size=(2, 3, 5))


def relu(x):
    return np.maximum(x, 0)


def silu(x):
    return x / (1 + np.exp(-x))


def plain(f, x, w_1, b_1, w_2, b_2):
    return f(x @ w_1 + b_1) @ w_2 + b_2


def gated(f, x, w_1, b_1, v, c, w_2, b_2):
    return (f(x @ w_1 + b_1) * (x @ v + c)) @ w_2 + b_2


@pytest.mark.parametrize(
    "options, f, formula",
    [
        ({}, relu, plain),
        ({"activation": "tanh"}, np.tanh, plain),
        ({"activation": "silu", "gated": True}, silu, gated),
    ],
)
def test_output_equals_the_formula_and_gradients_finite_differences(
    options, f, formula, gradients, weight_gradients
):
    layer, random = FeedForward(7, **options), np.random.default_rng(2)
    layer.build(X.shape)
    # Biases of zero would hide that they are forgotten.
    layer.set_weights([random.normal(size=w.shape) for w in layer.weights])
    exact = [X, *(w.astype(np.float64) for w in layer.get_weights())]
    x = X.astype(np.float32)
    np.testing.assert_allclose(layer(x), formula(f, *exact), atol=1e-5)
    direction = random.normal(size=X.shape)

    def loss(x):
        return ops.sum(ops.multiply(layer(x), direction.astype(np.float32)))

    found = gradients(loss, x) + weight_gradients(layer, lambda: loss(ops.convert_to_tensor(x)))

    def exact_loss(*arrays):
        return (formula(f, *arrays) * direction).sum()

    same_slopes(found, exact_loss, exact, random, tolerance=1e-4)


def test_dropout_drops_inner_values_in_training_only():
    x = X.astype(np.float32)
    for gated in (False, True):
        layer = FeedForward(64, dropout=0.5, gated=gated)
        calm = ops.convert_to_numpy(layer(x))
        np.testing.assert_array_equal(layer(x), calm)
        assert (ops.convert_to_numpy(layer(x, training=True)) != calm).any()
