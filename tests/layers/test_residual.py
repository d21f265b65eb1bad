import numpy as np
from keras import ops

from keras_attn import Residual

X = np.random.default_rng(0).normal(2, 3, size=(2, 3, 5)).astype(np.float32)


def norm(x, epsilon=1e-6):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)


def test_norm_first_normalises_the_input_and_what_else_the_sublayer_returns_comes_along():
    output, extra = Residual()(X, sublayer=lambda y: (y * 3, "weights"))
    np.testing.assert_allclose(output, X + 3 * norm(X), atol=1e-4)
    np.testing.assert_allclose(Residual()(X, sublayer=lambda y: y * 3), output, atol=1e-6)
    assert extra == "weights"


def test_epsilon_is_that_of_the_norm():
    output = Residual(norm_first=False, norm_epsilon=4.0)(X, sublayer=lambda y: y)
    np.testing.assert_allclose(output, norm(2 * X, epsilon=4.0), atol=1e-4)


def test_dropout_drops_the_sublayer_and_never_the_way_around():
    output = Residual(dropout=0.5)(X, sublayer=lambda y: y * 0 + 4.0, training=True)
    made = ops.convert_to_numpy(output) - X
    assert set(np.round(made).ravel().tolist()) == {0.0, 8.0}
