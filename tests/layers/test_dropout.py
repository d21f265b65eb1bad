import keras
import numpy as np
import pytest
from keras import ops

from keras_attn.layers.dropout import Dropout, drop


def test_share_of_zeros_is_the_rate_and_the_mean_is_kept():
    for rate in (0.001, 0.1, 0.5, 0.9, 0.999):
        y = ops.convert_to_numpy(drop(ops.ones((300, 1001)), rate, keras.random.SeedGenerator(1)))
        rounded = min(max(round(256 * rate), 1), 255) / 256
        assert (y == 0).mean() == pytest.approx(rounded, abs=0.005)
        np.testing.assert_allclose(y[y != 0], 1 / (1 - rounded), rtol=1e-6)
        assert y.mean() == pytest.approx(1.0, abs=0.15)


def test_neighbours_are_dropped_independently():
    x = ops.ones((4, 50_000))
    kept = ops.convert_to_numpy(drop(x, 0.5, keras.random.SeedGenerator(2))) != 0
    for distance in range(1, 9):
        both = (kept[:, distance:] & kept[:, :-distance]).mean()
        assert both == pytest.approx(0.25, abs=0.01)


def test_equal_seeds_drop_the_same_each_call_drops_again_and_only_in_training():
    x = np.ones((7, 13), np.float32)
    layers = [Dropout(0.5, seed=3) for _ in range(2)]
    first, second = (ops.convert_to_numpy(layer(x, training=True)) for layer in layers)
    np.testing.assert_array_equal(first, second)
    assert (ops.convert_to_numpy(layers[0](x, training=True)) != first).any()
    np.testing.assert_array_equal(layers[0](x), x)
    np.testing.assert_array_equal(Dropout(0.0)(x, training=True), x)


def test_dtype_is_kept_and_empty_tensors_are_taken():
    for dtype in ("float16", "bfloat16"):
        x = ops.ones((3, 0, 5), dtype)
        y = drop(x, 0.5, keras.random.SeedGenerator(1))
        assert tuple(y.shape) == (3, 0, 5)
        assert keras.backend.standardize_dtype(y.dtype) == dtype


def test_gradient_is_the_scale_of_what_was_kept(gradients):
    x, found = np.ones((5, 11), np.float32), []

    def total(x):
        found.append(drop(x, 0.25, 7))
        return ops.sum(found[-1])

    (gradient,) = gradients(total, x)
    expected = ops.convert_to_numpy(drop(ops.convert_to_tensor(x), 0.25, 7))
    np.testing.assert_allclose(gradient, expected)
