import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import GaussianKernelAttention

B, T, S, D = 2, 3, 5, 7


def kernel_weights(query, key, bandwidth=1.0):
    """Nadaraya-Watson weights `(B, T, S)` in float64."""
    difference = query[:, :, None].astype(np.float64) - key[:, None].astype(np.float64)
    scores = -(difference**2).sum(-1) / (2 * bandwidth**2)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@pytest.fixture
def inputs():
    random = np.random.default_rng(3)
    return [random.normal(size=(B, n, D)).astype(np.float32) for n in (T, S, S)]


def test_gaussian_kernel_is_the_regression_of_nadaraya_and_watson():
    places = np.array([0.0, 0.4, 1.1, 2.5, 5.0])
    heights = 2 * np.sin(places) + places**0.8
    asked = np.array([0.7, 3.0, 4.9])
    output = GaussianKernelAttention(bandwidth=0.3)(
        *(x[None, :, None].astype(np.float32) for x in (asked, places, heights))
    )
    for query, estimate in zip(asked, ops.convert_to_numpy(output)[0, :, 0], strict=True):
        kernel = np.exp(-((query - places) ** 2) / (2 * 0.3**2))
        assert estimate == pytest.approx((kernel * heights).sum() / kernel.sum(), abs=1e-5)


def test_narrow_kernel_takes_the_nearest_value_and_wide_one_the_mean(inputs):
    query, key, value = inputs
    nearest = ((query[:, :, None] - key[:, None]) ** 2).sum(-1).argmin(-1)
    narrow = GaussianKernelAttention(bandwidth=0.01)(query, key, value)
    np.testing.assert_allclose(narrow, np.take_along_axis(value, nearest[..., None], 1), atol=1e-6)
    wide = GaussianKernelAttention(bandwidth=1e5)(query, key, value)
    expected = np.broadcast_to(value.mean(1, keepdims=True), wide.shape)
    np.testing.assert_allclose(wide, expected, atol=1e-6)


def test_gaussian_kernel_is_exact_for_points_far_apart_or_far_from_the_origin():
    random = np.random.default_rng(6)
    times = np.arange(0, 1000, 0.5, dtype=np.float32)[None, :, None]
    clouds = [(np.array([0.3, 499.9, 998.2], np.float32)[None, :, None], times)]
    for size in (1, 7, 64):
        points = [1000 + random.normal(size=(B, n, size)) / np.sqrt(size) for n in (T, S)]
        clouds.append([x.astype(np.float32) for x in points])
    for query, key in clouds:
        _, weights = GaussianKernelAttention()(query, key, return_attention_scores=True)
        np.testing.assert_allclose(weights, kernel_weights(query, key), atol=1e-5)


def test_squares_of_gaussian_kernel_do_not_overflow_in_float16():
    random = np.random.default_rng(8)
    query, key = ((400 * random.normal(size=(B, n, D))).astype(np.float16) for n in (T, S))
    layer = GaussianKernelAttention(bandwidth=500.0, dtype="float16")
    output, weights = layer(query, key, return_attention_scores=True)
    np.testing.assert_allclose(weights, kernel_weights(query, key, 500.0), atol=5e-3)
    assert np.isfinite(ops.convert_to_numpy(output)).all()


def test_keys_a_query_does_not_see_do_not_change_a_digit_of_its_gaussian_weights():
    random = np.random.default_rng(9)
    query, key = (random.normal(size=(1, S, D)).astype(np.float32) for _ in range(2))
    layer = GaussianKernelAttention()
    options = {"use_causal_mask": True, "return_attention_scores": True}
    _, expected = layer(query, key, **options)
    for content in (0.0, 1e4, 1e18, np.nan):
        key[0, 3:] = content
        _, weights = layer(query, key, **options)
        np.testing.assert_array_equal(weights[0, :3], expected[0, :3])


def test_bandwidth_is_trained_if_asked_and_can_be_frozen_and_freed(inputs):
    fixed, trained = GaussianKernelAttention(), GaussianKernelAttention(trainable=True)
    for layer in (fixed, trained):
        layer(*inputs)
    assert fixed.trainable_weights == []
    assert [w.name for w in trained.trainable_weights] == ["log_bandwidth"]
    trained.trainable, fixed.trainable = False, True
    assert trained.trainable_weights == []
    assert [w.name for w in fixed.trainable_weights] == ["log_bandwidth"]


def test_trained_bandwidth_finds_that_of_the_data(inputs):
    query, key, value = inputs
    expected = GaussianKernelAttention(0.9)(query, key, value)
    entries = [keras.Input(x.shape[1:]) for x in (query, key, value)]
    layer = GaussianKernelAttention(bandwidth=4.0, trainable=True)
    model = keras.Model(entries, layer(*entries))
    model.compile(keras.optimizers.Adam(0.1), "mse")
    # A hundred batches of the same examples.
    *given, answers = (np.tile(x, (100, 1, 1)) for x in (query, key, value, expected))
    model.fit(given, answers, batch_size=B, verbose=0)
    assert np.exp(layer.get_weights()[0]) == pytest.approx(0.9, rel=0.05)


@pytest.mark.parametrize("bandwidth", [1e-18, 1e-38, 1e-300])
def test_a_tiny_bandwidth_takes_the_nearest_key_that_may_be_attended(bandwidth, weight_gradients):
    random = np.random.default_rng(0)
    query, key = (random.normal(size=(2, n, 4)).astype(np.float32) for n in (3, 6))
    mask = random.random((2, 3, 6)) < 0.5
    mask[0, 0] = False
    layer = GaussianKernelAttention(bandwidth, trainable=True)
    output, weights = layer(query, key, attention_mask=mask, return_attention_scores=True)
    distances = ((query[:, :, None] - key[:, None]) ** 2).sum(-1)
    nearest = np.where(mask, distances, np.inf).argmin(-1)
    expected = np.take_along_axis(key, nearest[..., None], axis=1)
    expected[0, 0] = 0
    np.testing.assert_allclose(output, expected, atol=1e-6)
    assert ops.convert_to_numpy(weights).sum() == 5
    for gradient in weight_gradients(
        layer, lambda: ops.sum(layer(query, key, attention_mask=mask))
    ):
        assert np.isfinite(gradient).all()
