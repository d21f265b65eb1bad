import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.objective import (
    CoolDown,
    InverseSquareRoot,
    SmoothedCrossEntropy,
    WeightAverage,
)
from keras_attn.translation.tokenizer import PAD_ID


def reference_loss(targets, logits, smoothing):
    """Cross-entropy against explicit smoothed one-hot targets, in float64, token by token."""
    costs = []
    for row, distributions in zip(targets, logits.astype(np.float64), strict=True):
        for y, x in zip(row, distributions, strict=True):
            if y == PAD_ID:
                continue
            log_p = x - np.log(np.exp(x - x.max()).sum()) - x.max()
            smooth = np.full(len(x), smoothing / len(x))
            smooth[y] += 1 - smoothing
            costs.append(-(smooth * log_p).sum())
    return np.mean(costs)


@pytest.fixture
def batch():
    random = np.random.default_rng(5)
    targets = np.array([[3, 7, 2, 0, 0], [5, 1, 4, 6, 2], [9, 0, 0, 0, 0]])
    return targets, random.normal(0, 3, (3, 5, 11)).astype(np.float32)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
def test_loss_equals_smoothed_one_hot_targets(batch, smoothing):
    targets, logits = batch
    loss = float(SmoothedCrossEntropy(smoothing)(targets, logits))
    assert loss == pytest.approx(reference_loss(targets, logits, smoothing), rel=1e-5)


def test_logits_behind_padding_neither_count_nor_get_a_gradient(batch):
    targets, logits = batch
    logits = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = SmoothedCrossEntropy(0.1)(targets, logits)
    gradient = tape.gradient(loss, logits).numpy()
    assert (gradient[targets == PAD_ID] == 0).all()
    assert (np.abs(gradient[targets != PAD_ID]).max(axis=-1) > 0).all()


def test_more_padding_changes_nothing(batch):
    targets, logits = batch
    wider = np.pad(targets, ((0, 1), (0, 4)))
    logits_wider = np.pad(logits, ((0, 1), (0, 4), (0, 0)), constant_values=7.0)
    loss = SmoothedCrossEntropy(0.1)
    assert float(loss(wider, logits_wider)) == pytest.approx(float(loss(targets, logits)), rel=1e-6)


def test_loss_of_bfloat16_logits_is_float32(batch):
    targets, logits = batch
    half = tf.cast(logits, tf.bfloat16)
    loss = SmoothedCrossEntropy(0.1)(targets, half)
    assert loss.dtype == tf.float32
    exact = reference_loss(targets, tf.cast(half, tf.float32).numpy(), 0.1)
    assert float(loss) == pytest.approx(exact, rel=1e-5)


def test_a_batch_of_padding_alone_costs_nothing():
    assert float(SmoothedCrossEntropy(0.1)([[0, 0]], [[[1.0, 2.0]] * 2])) == 0.0


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
        SmoothedCrossEntropy(0.2),
        InverseSquareRoot(0.1, 7),
        CoolDown(InverseSquareRoot(0.1, 7), 0.3),
    ],
)
def test_config_round_trip(thing):
    assert type(thing).from_config(thing.get_config()).get_config() == thing.get_config()


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
