import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.objective import (
    CoolDown,
    FusedAdam,
    InverseSquareRoot,
    WeightAverage,
)


def test_rate_rises_linearly_then_falls_with_the_square_root():
    schedule = InverseSquareRoot(peak=0.5, warmup_steps=10)
    rates = [float(schedule(step)) for step in range(1000)]
    np.testing.assert_allclose(rates[:10], [0.05 * n for n in range(1, 11)], rtol=1e-6)
    np.testing.assert_allclose(rates[39], 0.25, rtol=1e-6)
    assert max(rates) == rates[9]


@pytest.mark.parametrize(("left", "factor"), [(1.0, 1), (0.4, 1), (0.1, 0.25), (0.0, 0)])
def test_rate_falls_to_zero_over_the_last_part_of_the_time(left, factor):
    before = InverseSquareRoot(peak=0.5, warmup_steps=10)
    schedule = CoolDown(before, share=0.4)
    schedule.left.assign(left)
    for step in (0, 9, 99):
        assert float(schedule(step)) == pytest.approx(factor * float(before(step)))


@pytest.mark.parametrize(
    "thing",
    [
        InverseSquareRoot(0.1, 7),
        CoolDown(InverseSquareRoot(0.1, 7), 0.3),
    ],
)
def test_config_round_trip(thing):
    assert type(thing).from_config(thing.get_config()).get_config() == thing.get_config()


@pytest.mark.parametrize("options", [{}, {"global_clipnorm": 0.5, "beta_2": 0.98}])
def test_fused_adam_takes_the_steps_of_keras_adam(options):
    random = np.random.default_rng(2)
    starts = [random.normal(size=shape).astype(np.float32) for shape in ((7, 5), (5,))]
    ways = [
        (kind(InverseSquareRoot(0.3, 4), **options), [keras.Variable(start) for start in starts])
        for kind in (FusedAdam, keras.optimizers.Adam)
    ]
    for _ in range(20):
        rows = tf.constant(random.normal(size=(2, 5)), tf.float32)
        # As of an embedding: of two rows, one of them twice.
        gradients = [
            tf.IndexedSlices(tf.concat([rows, rows[:1]], 0), tf.constant([3, 6, 3]), (7, 5)),
            tf.constant(random.normal(size=5), tf.float32),
        ]
        for optimizer, weights in ways:
            optimizer.apply([tf.convert_to_tensor(g) for g in gradients], weights)
    (_, fused), (_, plain) = ways
    for one, other, start in zip(fused, plain, starts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
        assert np.abs(np.asarray(one) - start).max() > 0.5


def test_fused_adam_accumulates():
    weights = [keras.Variable([1.0, 2.0]) for _ in range(2)]
    whole = FusedAdam(0.1)
    parts = FusedAdam(0.1, gradient_accumulation_steps=2)
    for gradient in ([1.0, 4.0], [3.0, -2.0]):
        parts.apply([tf.constant(gradient)], weights[:1])
    whole.apply([tf.constant([2.0, 1.0])], weights[1:])
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-6)


def test_average_follows_the_formula_and_swaps_back():
    weight = keras.Variable(np.array([2.0, -1.0], np.float32))
    average = WeightAverage([weight], decay=0.5)
    expected = np.zeros(2)
    for n in range(30):
        value = np.array([n, -n], np.float32)
        weight.assign(value)
        average.update()
        keep = min(0.5, n / (n + 9))
        expected = keep * expected + (1 - keep) * value
    np.testing.assert_allclose(average.values[0], expected, rtol=1e-5)
    average.swap()
    np.testing.assert_allclose(weight.value, expected, rtol=1e-5)
    np.testing.assert_allclose(average.values[0], [29, -29])
    average.swap()
    np.testing.assert_allclose(weight.value, [29, -29])
