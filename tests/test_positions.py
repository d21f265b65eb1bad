import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import PositionalEncoding


def formula(positions, size):
    table = np.zeros((len(positions), size))
    for row, t in enumerate(positions):
        for i in range(size):
            angle = t / 10000 ** ((i - i % 2) / size)
            table[row, i] = np.cos(angle) if i % 2 else np.sin(angle)
    return table


@pytest.mark.parametrize("size", [1, 2, 7, 16])
@pytest.mark.parametrize("start", [0, 5, ops.convert_to_tensor(5)])
def test_adds_the_formula(size, start):
    x = np.random.default_rng(2).normal(size=(2, 11, size)).astype(np.float32)
    encoded = PositionalEncoding()(x, start=start)
    expected = x + formula(range(int(start), int(start) + 11), size)
    np.testing.assert_allclose(encoded, expected, atol=1e-6)


def test_grows_past_max_len():
    encoded = PositionalEncoding(max_len=4)(np.zeros((1, 30, 6), np.float32))
    np.testing.assert_allclose(encoded[0], formula(range(30), 6), atol=1e-5)


def test_a_row_of_numbers():
    row = ops.convert_to_numpy(PositionalEncoding()(np.zeros((1, 2, 4), np.float32)))[0, 1]
    np.testing.assert_allclose(row, [0.841471, 0.540302, 0.0099998, 0.99995], atol=1e-6)


def test_steps_equal_the_whole():
    layer = PositionalEncoding(max_len=3)
    x = np.ones((1, 6, 5), np.float32)
    steps = [layer(x[:, t : t + 1], start=ops.convert_to_tensor(t)) for t in range(6)]
    np.testing.assert_allclose(np.concatenate(steps, axis=1), layer(x), atol=1e-6)


def test_a_shift_is_one_linear_map_for_all_positions():
    table = ops.convert_to_numpy(PositionalEncoding()(np.zeros((1, 50, 8), np.float32)))[0]
    shift = 7
    map_, *_ = np.linalg.lstsq(table[:-shift], table[shift:], rcond=None)
    np.testing.assert_allclose(table[:-shift] @ map_, table[shift:], atol=1e-4)


def test_keeps_the_mask():
    x = keras.layers.Embedding(5, 4, mask_zero=True)(np.array([[1, 0]]))
    mask = ops.convert_to_numpy(PositionalEncoding()(x)._keras_mask)
    assert mask.tolist() == [[True, False]]


def test_length_that_is_no_positive_integer_is_refused():
    with pytest.raises(ValueError, match="Received: max_len=0"):
        PositionalEncoding(max_len=0)
