import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn import LearnedPositionalEncoding, PositionalEncoding


def formula(positions, size):
    table = np.zeros((len(positions), size))
    for row, t in enumerate(positions):
        for i in range(size):
            angle = t / 10000 ** ((i - i % 2) / size)
            table[row, i] = np.cos(angle) if i % 2 else np.sin(angle)
    return table


@pytest.mark.parametrize("max_len", [1000, 4])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_adds_the_formula_past_the_computed_length_too(size, max_len):
    x = np.random.default_rng(2).normal(size=(2, 11, size)).astype(np.float32)
    layer = PositionalEncoding(max_len)
    for start in (0, 5, ops.convert_to_tensor(5)):
        expected = x + formula(range(int(start), int(start) + 11), size)
        np.testing.assert_allclose(layer(x, start=start), expected, atol=1e-5)


def test_rows_of_numbers():
    rows = ops.convert_to_numpy(PositionalEncoding()(np.zeros((1, 2, 4), np.float32)))[0]
    np.testing.assert_allclose(rows[0], [0, 1, 0, 1], atol=1e-6)
    np.testing.assert_allclose(rows[1], [0.841471, 0.540302, 0.0099998, 0.99995], atol=1e-6)


@pytest.mark.parametrize("size", [1, 7])
def test_sines_may_come_before_cosines(size):
    zeros = np.zeros((1, 9, size), np.float32)
    columns = [*range(0, size, 2), *range(1, size, 2)]
    for encoding in (PositionalEncoding(interleaved=False), PositionalEncoding(4, 0.0, False)):
        twin = PositionalEncoding.from_config(encoding.get_config())
        for one in (encoding, twin):
            found = ops.convert_to_numpy(one(zeros))[0]
            np.testing.assert_allclose(found, formula(range(9), size)[:, columns], atol=1e-6)


@pytest.mark.parametrize("make", [PositionalEncoding, LearnedPositionalEncoding])
def test_positions_may_be_given_one_by_one(make):
    encoding = make(7)
    zeros = np.zeros((2, 3, 4), np.float32)
    rows = ops.convert_to_numpy(encoding(np.zeros((1, 7, 4), np.float32)))[0]
    for positions in ([4, 0, 4], [[1, 2, 6], [3, 3, 0]]):
        found = ops.convert_to_numpy(encoding(zeros, positions=np.array(positions, "int32")))
        expected = np.broadcast_to(rows[np.array(positions)], found.shape)
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("make", [PositionalEncoding, lambda size: LearnedPositionalEncoding(6)])
def test_steps_equal_the_whole(make):
    layer, x = make(3), np.ones((1, 6, 5), np.float32)
    steps = [layer(x[:, t : t + 1], start=ops.convert_to_tensor(t)) for t in range(6)]
    np.testing.assert_allclose(np.concatenate(steps, axis=1), layer(x), atol=1e-6)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    half_size=st.sampled_from([1, 8]),
    position=st.integers(0, 300),
    shift=st.integers(0, 300),
)
def test_a_shift_is_a_rotation_that_does_not_depend_on_the_position(half_size, position, shift):
    layer, nothing = PositionalEncoding(), np.zeros((1, 30, 2 * half_size), np.float32)
    here = ops.convert_to_numpy(layer(nothing, start=position))[0]
    there = ops.convert_to_numpy(layer(nothing, start=position + shift))[0]
    rotation = np.zeros((2 * half_size, 2 * half_size))
    for j in range(half_size):
        angle = shift / 10000 ** (j / half_size)
        turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        rotation[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = turn
    np.testing.assert_allclose(here @ rotation, there, atol=1e-6)


@pytest.mark.parametrize("make", [PositionalEncoding, lambda: LearnedPositionalEncoding(2)])
def test_keeps_the_mask(make):
    ids = np.array([[1, 0], [2, 3]])
    embedding = keras.layers.Embedding(5, 4, mask_zero=True)
    inputs = keras.Input((2,), dtype="int32")
    encoded = make()(embedding(inputs))
    # Averages what the mask leaves.
    means = keras.layers.GlobalAveragePooling1D()(encoded)
    encoded, means = keras.Model(inputs, [encoded, means])(ids)
    encoded = ops.convert_to_numpy(encoded)
    np.testing.assert_allclose(means, [encoded[0, 0], encoded[1].mean(0)], atol=1e-6)


def learned_and_table(max_len, size):
    layer = LearnedPositionalEncoding(max_len)
    layer.build((None, None, size))
    (table,) = layer.get_weights()
    return layer, table


def test_adds_the_learned_rows():
    layer, table = learned_and_table(17, 7)
    assert table.shape == (17, 7)
    assert len({*map(tuple, table)}) == 17
    x = np.random.default_rng(2).normal(size=(2, 11, 7)).astype(np.float32)
    for start in (0, 6, np.int64(6), ops.convert_to_tensor(6)):
        expected = x + table[int(start) : int(start) + 11]
        np.testing.assert_allclose(layer(x, start=start), expected, atol=1e-6)


def test_learned_rows_get_the_gradient_of_where_they_were_added(weight_gradients):
    layer, _ = learned_and_table(5, 3)
    weights = np.random.default_rng(3).normal(size=(2, 3, 3)).astype(np.float32)
    x = np.ones((2, 3, 3), np.float32)
    (gradient,) = weight_gradients(layer, lambda: ops.sum(ops.multiply(layer(x, start=1), weights)))
    expected = np.zeros((5, 3))
    expected[1:4] = weights.sum(0)
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


@pytest.mark.parametrize("convert", [int, ops.convert_to_tensor])
def test_learned_table_asked_past_its_ends_is_refused(convert):
    for start, length in ((0, 5), (3, 2), (4, 1), (2, 3)):
        with pytest.raises(ValueError, match=rf"at most `max_len=4`.*start={start}, T={length}\."):
            LearnedPositionalEncoding(4)(np.ones((2, length, 3)), start=convert(start))
    with pytest.raises(ValueError, match=r"`start` must be .*at least 0.*Received: start=-1"):
        LearnedPositionalEncoding(4)(np.ones((2, 3, 5)), start=convert(-1))
    with pytest.raises(ValueError, match=r"at most `max_len=4`.*T=5\."):
        LearnedPositionalEncoding(4)(keras.Input((5, 3)))


class Wrapper(keras.layers.Layer):
    """Leaves it to Keras to find its output shape by a call."""

    def __init__(self):
        super().__init__()
        self.positions = LearnedPositionalEncoding(4)

    def build(self, x_shape):
        self.positions.build(x_shape)

    def call(self, x):
        return self.positions(x)


def test_learned_table_is_not_asked_for_made_up_lengths_inside_another_layer():
    inputs = keras.Input((None, 3))
    model = keras.Model(inputs, Wrapper()(inputs))
    assert model.output_shape == (None, None, 3)
    assert np.isfinite(model.predict(np.ones((2, 4, 3), np.float32), verbose=0)).all()


def test_rows_past_the_learned_table_are_nan_where_only_the_run_can_tell(compiled):
    layer, table = learned_and_table(4, 3)
    x = np.ones((1, 3, 3), np.float32)
    if keras.backend.backend() == "torch":
        pytest.skip("torch runs eagerly: it is an error there")
    encoded = compiled(lambda x, start: layer(x, start=start))(x, ops.convert_to_tensor(2))
    np.testing.assert_allclose(encoded[0, :2], 1 + table[2:], atol=1e-6)
    assert np.isnan(encoded[0, 2]).all()
