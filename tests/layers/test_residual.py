import numpy as np
import pytest
from keras import ops

from keras_attn import Residual


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(2, 3, size=(2, 3, 5))


def test_norm_first_normalises_the_input(x):
    output = Residual()(x.astype(np.float32), sublayer=lambda y: y * 3)
    np.testing.assert_allclose(output, x + 3 * norm(x), atol=1e-4)


def test_epsilon_is_that_of_the_norm(x):
    output = Residual(norm_first=False, norm_epsilon=4.0)(
        x.astype(np.float32), sublayer=lambda y: y
    )
    total = 2 * x - 2 * x.mean(-1, keepdims=True)
    expected = total / np.sqrt((total**2).mean(-1, keepdims=True) + 4.0)
    np.testing.assert_allclose(output, expected, atol=1e-4)


def test_what_else_the_sublayer_returns_comes_along(x):
    output, extra = Residual()(x.astype(np.float32), sublayer=lambda y: (y, "weights"))
    np.testing.assert_allclose(output, x + norm(x), atol=1e-4)
    assert extra == "weights"


def test_dropout_drops_the_sublayer_and_never_the_way_around(x):
    layer = Residual(dropout=0.5)
    output = layer(x.astype(np.float32), sublayer=lambda y: y * 0 + 4.0, training=True)
    made = ops.convert_to_numpy(output) - x
    assert set(np.round(made).ravel().tolist()) == {0.0, 8.0}
