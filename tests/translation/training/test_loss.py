import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.training.loss import draw_sample, smoothed_cross_entropy

SIZE, WIDTH = 40, 5
TARGETS = np.array([7, 9, 7, 0, 30], np.int32)


@pytest.fixture
def inputs():
    """Rows, kernel and bias."""
    random = np.random.default_rng(2)
    shapes = ((len(TARGETS), WIDTH), (WIDTH, SIZE), (SIZE,))
    return [tf.constant(random.normal(0, 1, shape), tf.float32) for shape in shapes]


def sampled_cost(rows, kernel, bias, targets, smoothing, num_sampled, seed):
    """The cost by the logits of a sample."""
    sample = draw_sample(targets, kernel.shape[1], num_sampled, seed)
    kernel, bias = tf.gather(kernel, sample.pieces, axis=1), tf.gather(bias, sample.pieces)
    places = tf.gather(sample.places, targets)
    return smoothed_cross_entropy(rows, kernel, bias, places, smoothing, sample.counts)


def logits_of(rows, kernel, bias):
    return rows.numpy().astype(float) @ kernel.numpy() + bias.numpy()


def reference_cost(logits, smoothing):
    log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    return -sum(
        (1 - smoothing) * row[y] + smoothing * row.mean()
        for row, y in zip(log_p, TARGETS, strict=True)
    )


def value_and_gradients(function, inputs):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        value = function(*inputs)
    return value, [tf.convert_to_tensor(part) for part in tape.gradient(value, inputs)]


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_cost_is_that_of_smoothed_targets(inputs, smoothing):
    cost = smoothed_cross_entropy(*inputs, tf.constant(TARGETS), smoothing)
    assert float(cost) == pytest.approx(reference_cost(logits_of(*inputs), smoothing), rel=1e-5)


def test_a_target_of_no_share_still_has_a_cost(inputs):
    rows, kernel, bias = inputs
    bias -= 500 * tf.one_hot(TARGETS[0], SIZE)  # exp(-500) is 0 in float32
    cost = smoothed_cross_entropy(rows, kernel, bias, tf.constant(TARGETS), 0.1)
    expected = reference_cost(logits_of(rows, kernel, bias), 0.1)
    assert float(cost) == pytest.approx(expected, rel=1e-5)


def test_no_tokens_cost_nothing(inputs):
    rows, *rest = inputs
    none = tf.zeros([0], tf.int32)
    value, gradients = value_and_gradients(
        lambda *parts: smoothed_cross_entropy(*parts, none, 0.1), [rows[:0], *rest]
    )
    assert float(value) == 0
    assert not any(np.any(gradient) for gradient in gradients)


@pytest.mark.parametrize("num_sampled", [SIZE, 4, 3, 1])
def test_a_sample_of_all_or_too_small_for_the_targets_is_the_whole_vocabulary(inputs, num_sampled):
    """The targets are 4 different pieces."""
    targets, seed = tf.constant(TARGETS), tf.constant([1, 2])
    whole, gradients = value_and_gradients(
        lambda *parts: smoothed_cross_entropy(*parts, targets, 0.1), inputs
    )
    sampled, of_sample = value_and_gradients(
        lambda *parts: sampled_cost(*parts, targets, 0.1, num_sampled, seed), inputs
    )
    assert float(sampled) == pytest.approx(float(whole), rel=1e-6)
    for mine, expected in zip(of_sample, gradients, strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-5)


def test_sums_over_the_vocabulary_are_estimated_without_bias(inputs):
    rows, kernel, bias = inputs
    rows, target = rows[:1], TARGETS[:1]
    logits = logits_of(rows, kernel, bias)[0]

    @tf.function
    def cost(smoothing, seed):
        return sampled_cost(rows, kernel, bias, tf.constant(target), smoothing, 12, seed)

    seeds = [tf.constant([3, number]) for number in range(1500)]
    plain = np.array([float(cost(0.0, seed)) for seed in seeds])
    smooth = np.array([float(cost(0.5, seed)) for seed in seeds])
    total = np.exp(plain + logits[target[0]])
    mean = logits[target[0]] - (smooth - plain) / 0.5
    for estimates, exact in ((total, np.exp(logits).sum()), (mean, logits.mean())):
        assert estimates.mean() == pytest.approx(exact, abs=4 * estimates.std() / len(seeds) ** 0.5)
        assert estimates.std() > 0.02 * abs(exact)  # so there was something to estimate


def test_gradients_of_a_sample_are_those_of_its_cost(inputs):
    def cost(*parts):
        return sampled_cost(*parts, tf.constant(TARGETS), 0.1, 12, tf.constant([1, 5]))

    _, gradients = value_and_gradients(cost, inputs)
    random = np.random.default_rng(3)
    for place, gradient in enumerate(gradients):
        along = tf.constant(random.normal(0, 1, gradient.shape), tf.float32)

        def moved(by, place=place, along=along):
            parts = list(inputs)
            parts[place] += by * along
            return float(cost(*parts))

        slope = (moved(1e-2) - moved(-1e-2)) / 2e-2
        assert slope == pytest.approx(float(tf.reduce_sum(gradient * along)), rel=5e-3, abs=2e-3)


def test_only_pieces_of_the_sample_learn(inputs):
    _, (_, kernel_gradient, bias_gradient) = value_and_gradients(
        lambda *parts: sampled_cost(*parts, tf.constant(TARGETS), 0.1, 12, tf.constant([1, 5])),
        inputs,
    )
    learns = np.any(kernel_gradient != 0, axis=0)
    assert learns.sum() == 12
    assert learns[TARGETS].all()
    np.testing.assert_array_equal(learns, bias_gradient != 0)


def test_bfloat16_is_near(inputs):
    rows, *rest = inputs
    exact = smoothed_cross_entropy(rows, *rest, tf.constant(TARGETS), 0.1)
    rows, kernel = (tf.cast(one, tf.bfloat16) for one in (rows, rest[0]))
    near = smoothed_cross_entropy(rows, kernel, rest[1], tf.constant(TARGETS), 0.1)
    assert near.dtype == tf.float32
    assert float(near) == pytest.approx(float(exact), rel=0.02)
