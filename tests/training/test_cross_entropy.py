from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from keras_attn.training.cross_entropy import draw_sample, smoothed_cross_entropy

SIZE, WIDTH = 40, 5
TARGETS = tf.constant([7, 9, 7, 0, 30])  # 4 different pieces


@pytest.fixture
def inputs():
    """Rows, kernel and bias."""
    random = np.random.default_rng(2)
    shapes = ((len(TARGETS), WIDTH), (WIDTH, SIZE), (SIZE,))
    return [tf.constant(random.normal(0, 1, shape), tf.float32) for shape in shapes]


def sampled_cost(rows, kernel, bias, targets=TARGETS, smoothing=0.1, num_sampled=12, seed=(1, 5)):
    """The cost by the logits of a sample."""
    sample = draw_sample(targets, kernel.shape[1], num_sampled, tf.convert_to_tensor(seed))
    kernel, bias = tf.gather(kernel, sample.pieces, axis=1), tf.gather(bias, sample.pieces)
    places = tf.gather(sample.places, targets)
    return smoothed_cross_entropy(rows, kernel, bias, places, smoothing, sample.counts)


def logits_of(rows, kernel, bias):
    return rows.numpy().astype(float) @ kernel.numpy() + bias.numpy()


def test_cost_is_that_of_smoothed_targets_even_of_one_without_a_share(inputs):
    rows, kernel, first = inputs
    unlikely = first - 500 * tf.one_hot(TARGETS[0], SIZE)  # exp(-500) is 0 in float32
    for smoothing, bias in ((0.0, first), (0.1, first), (0.9, first), (0.1, unlikely)):
        logits = logits_of(rows, kernel, bias)
        log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        of_targets = log_p[range(len(TARGETS)), TARGETS].sum()
        expected = -(1 - smoothing) * of_targets - smoothing * log_p.mean(axis=-1).sum()
        cost = smoothed_cross_entropy(rows, kernel, bias, TARGETS, smoothing)
        assert float(cost) == pytest.approx(expected, rel=1e-5)


def test_a_sample_of_all_or_too_small_for_the_targets_is_the_whole_vocabulary(inputs, gradients):
    def whole(*inputs):
        return smoothed_cross_entropy(*inputs, TARGETS, 0.1)

    for number in (SIZE, 4, 3, 1):
        sampled = partial(sampled_cost, num_sampled=number)
        assert float(sampled(*inputs)) == pytest.approx(float(whole(*inputs)), rel=1e-6)
        both = (gradients(cost, *inputs) for cost in (sampled, whole))
        for mine, expected in zip(*both, strict=True):
            np.testing.assert_allclose(mine, expected, atol=1e-5)


def test_sums_over_the_vocabulary_are_estimated_without_bias(inputs):
    rows, kernel, bias = inputs
    rows, target = rows[:1], TARGETS[:1]
    logits = logits_of(rows, kernel, bias)[0]
    of_target = logits[int(target[0])]

    @tf.function
    def costs(seed):
        given = (rows, kernel, bias, target)
        return [sampled_cost(*given, smoothing, seed=seed) for smoothing in (0.0, 0.5)]

    seeds = [tf.constant([3, number]) for number in range(1500)]
    plain, smooth = np.array([costs(seed) for seed in seeds]).T
    total = np.exp(plain + of_target)
    mean = of_target - (smooth - plain) / 0.5
    for estimates, exact in ((total, np.exp(logits).sum()), (mean, logits.mean())):
        assert estimates.mean() == pytest.approx(exact, abs=4 * estimates.std() / len(seeds) ** 0.5)
        assert estimates.std() > 0.02 * abs(exact)  # so there was something to estimate


def test_gradients_of_a_sample_are_those_of_its_cost_and_only_its_pieces_learn(inputs, gradients):
    found = gradients(sampled_cost, *inputs)
    random = np.random.default_rng(3)
    for place, gradient in enumerate(found):
        along = tf.constant(random.normal(0, 1, gradient.shape), tf.float32)

        def moved(by, place=place, along=along):
            parts = list(inputs)
            parts[place] += by * along
            return float(sampled_cost(*parts))

        slope = (moved(1e-2) - moved(-1e-2)) / 2e-2
        assert slope == pytest.approx(float(tf.reduce_sum(gradient * along)), rel=5e-3, abs=2e-3)
    _, of_kernel, of_bias = found
    learns = np.any(of_kernel != 0, axis=0)
    assert learns.sum() == 12 and learns[TARGETS.numpy()].all()
    np.testing.assert_array_equal(learns, of_bias != 0)
