import numpy as np
from keras import ops

from keras_attn import GaussianKernelAttention

B, T, S, D = 2, 3, 5, 7


def kernel_weights(query, key, bandwidth=1.0):
    """Nadaraya-Watson weights `(B, T, S)` in float64."""
    difference = query[:, :, None].astype(np.float64) - key[:, None].astype(np.float64)
    scores = -(difference**2).sum(-1) / (2 * bandwidth**2)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


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


def test_bandwidth_is_trained_if_asked_and_can_be_frozen_and_freed():
    x = np.ones((1, 2, 3), np.float32)
    fixed, trained = GaussianKernelAttention(), GaussianKernelAttention(trainable=True)
    for layer in (fixed, trained):
        layer(x, x)
    assert fixed.trainable_weights == []
    assert [w.name for w in trained.trainable_weights] == ["log_bandwidth"]
    trained.trainable, fixed.trainable = False, True
    assert trained.trainable_weights == []
    assert [w.name for w in fixed.trainable_weights] == ["log_bandwidth"]


def test_a_tiny_bandwidth_takes_the_nearest_key_that_may_be_attended(weight_gradients):
    random = np.random.default_rng(0)
    query, key = (random.normal(size=(2, n, 4)).astype(np.float32) for n in (3, 6))
    mask = random.random((2, 3, 6)) < 0.5
    mask[0, 0] = False
    distances = ((query[:, :, None] - key[:, None]) ** 2).sum(-1)
    nearest = np.where(mask, distances, np.inf).argmin(-1)
    expected = np.take_along_axis(key, nearest[..., None], axis=1)
    expected[0, 0] = 0
    for bandwidth in (1e-18, 1e-38, 1e-300):
        layer = GaussianKernelAttention(bandwidth, trainable=True)
        output, weights = layer(query, key, attention_mask=mask, return_attention_scores=True)
        np.testing.assert_allclose(output, expected, atol=1e-6)
        assert ops.convert_to_numpy(weights).sum() == 5
        (gradient,) = weight_gradients(
            layer, lambda layer=layer: ops.sum(layer(query, key, attention_mask=mask))
        )
        assert np.isfinite(gradient)
