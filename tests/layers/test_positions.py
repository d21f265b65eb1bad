import itertools

import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import LearnedPositionalEncoding, PositionalEncoding


def formula(positions, size):
    table = np.zeros((len(positions), size))
    for row, t in enumerate(positions):
        for i in range(size):
            angle = t / 10000 ** ((i - i % 2) / size)
            table[row, i] = np.cos(angle) if i % 2 else np.sin(angle)
    return table


def test_adds_the_formula_past_the_computed_length_too():
    for size, max_len in itertools.product((1, 2, 7), (1000, 4)):
        x = np.random.default_rng(2).normal(size=(2, 11, size)).astype(np.float32)
        layer = PositionalEncoding(max_len)
        for start in (0, 5, ops.convert_to_tensor(5)):
            expected = x + formula(range(int(start), int(start) + 11), size)
            np.testing.assert_allclose(layer(x, start=start), expected, atol=1e-5)


def test_sines_may_come_before_cosines():
    for size in (1, 7):
        columns = [*range(0, size, 2), *range(1, size, 2)]
        expected = formula(range(9), size)[:, columns]
        for encoding in (PositionalEncoding(interleaved=False), PositionalEncoding(4, 0.0, False)):
            for one in (encoding, PositionalEncoding.from_config(encoding.get_config())):
                found = ops.convert_to_numpy(one(np.zeros((1, 9, size), np.float32)))[0]
                np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("make", [PositionalEncoding, LearnedPositionalEncoding])
def test_positions_may_be_given_one_by_one(make):
    encoding = make(7)
    zeros = np.zeros((2, 3, 4), np.float32)
    rows = ops.convert_to_numpy(encoding(np.zeros((1, 7, 4), np.float32)))[0]
    for positions in ([4, 0, 4], [[1, 2, 6], [3, 3, 0]]):
        found = ops.convert_to_numpy(encoding(zeros, positions=np.array(positions, "int32")))
        expected = np.broadcast_to(rows[np.array(positions)], found.shape)
        np.testing.assert_allclose(found, expected, atol=1e-6)


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


def test_a_start_that_is_no_position_is_refused():
    for start in (True, np.ones(2, np.int32), np.float32(1)):
        with pytest.raises(ValueError, match="`start` must be an integer"):
            PositionalEncoding()(np.ones((2, 3, 4)), start=start)


def test_learned_table_asked_past_its_ends_is_refused():
    for start, length in ((0, 5), (3, 2), (4, 1), (2, 3)):
        with pytest.raises(ValueError, match=rf"at most `max_len=4`.*start={start}, T={length}\."):
            x = np.ones((2, length, 3))
            LearnedPositionalEncoding(4)(x, start=ops.convert_to_tensor(start))
    with pytest.raises(ValueError, match=r"`start` must be .*at least 0.*Received: start=-1"):
        LearnedPositionalEncoding(4)(np.ones((2, 3, 5)), start=ops.convert_to_tensor(-1))
    with pytest.raises(ValueError, match=r"at most `max_len=4`.*T=5\."):
        LearnedPositionalEncoding(4)(keras.Input((5, 3)))


def test_learned_table_is_not_asked_for_made_up_lengths_inside_another_layer():
    positions, inputs = LearnedPositionalEncoding(4), keras.Input((None, 3))
    positions.build(inputs.shape)
    # A Lambda leaves it to Keras to find the output shape by a call.
    model = keras.Model(inputs, keras.layers.Lambda(positions)(inputs))
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


def test_positions_far_beyond_the_table_are_exact():
    positions = np.array([5, 70_000, 100_000_000, 2_000_000_000])
    found = PositionalEncoding()(np.zeros((1, 4, 7), np.float32), positions=positions)
    np.testing.assert_allclose(found[0], formula(positions, 7), atol=1e-5)


@pytest.mark.parametrize("layer", [PositionalEncoding(), LearnedPositionalEncoding(9)])
def test_positions_must_be_integers_of_at_least_0(layer):
    x = np.zeros((1, 2, 4), np.float32)
    with pytest.raises(ValueError, match="`positions` must be integers.*float32"):
        layer(x, positions=np.array([0.5, 1.0], np.float32))
    with pytest.raises(ValueError, match="`positions` must be at least 0.*from -1"):
        layer(x, positions=[-1, 0])
