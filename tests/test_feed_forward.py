import numpy as np
import pytest

from keras_attn import FeedForward


def test_equals_the_formula():
    x = np.random.default_rng(0).normal(size=(2, 3, 5))
    layer = FeedForward(7)
    output = layer(x.astype(np.float32))
    w_1, b_1, w_2, b_2 = (w.numpy().astype(np.float64) for w in layer.weights)
    expected = np.maximum(x @ w_1 + b_1, 0) @ w_2 + b_2
    np.testing.assert_allclose(output, expected, atol=1e-5)


def test_activation_is_the_users():
    layer = FeedForward(7, activation="tanh")
    x = np.random.default_rng(0).normal(size=(2, 3, 5))
    output = layer(x.astype(np.float32))
    w_1, b_1, w_2, b_2 = (w.numpy().astype(np.float64) for w in layer.weights)
    np.testing.assert_allclose(output, np.tanh(x @ w_1 + b_1) @ w_2 + b_2, atol=1e-5)


def test_positions_do_not_meet():
    x = np.random.default_rng(1).normal(size=(1, 4, 5)).astype(np.float32)
    layer = FeedForward(6)
    np.testing.assert_allclose(layer(x[:, 2:3]), layer(x)[:, 2:3], atol=1e-6)


def test_width_that_is_no_positive_integer_is_refused():
    with pytest.raises(ValueError, match="Received: ffn_num_hiddens=-1"):
        FeedForward(-1)
