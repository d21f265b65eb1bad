import numpy as np
import pytest
from attention_of_heads import some_masks, unpadded
from every_layer import same_slopes
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn import (
    AdditiveAttention,
    BilinearAttention,
    DotProductAttention,
    GaussianKernelAttention,
)

B, T, S, D, N = 2, 3, 5, 7, 11
RANDOM = np.random.default_rng(7)
INPUTS = [RANDOM.normal(size=shape) for shape in ((B, T, D), (B, S, D), (B, S, 13))]


def attention(scores, value, mask):
    powers = np.where(mask, np.exp(scores - scores.max(-1, keepdims=True)), 0.0)
    total = powers.sum(-1, keepdims=True)
    weights = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
    return weights @ value, weights


def additive(query, key, w_q, w_k, w_v):
    return (np.tanh((query @ w_q)[:, :, None] + (key @ w_k)[:, None]) @ w_v)[..., 0]


def bilinear(query, key, w):
    return np.einsum("btq,qk,bsk->bts", query, w, key)


def dot_product(query, key):
    return np.einsum("btd,bsd->bts", query, key)


def scaled_dot_product(query, key):
    return dot_product(query, key) / np.sqrt(D)


def gaussian(query, key, log_bandwidth):
    distances = ((query[:, :, None] - key[:, None]) ** 2).sum(-1)
    return -distances / (2 * np.exp(log_bandwidth) ** 2)


def single(arrays):
    return [x.astype(np.float32) for x in arrays]


def weights_of(layer):
    return [w.astype(np.float64) for w in layer.get_weights()]


@pytest.mark.parametrize(
    "make, score",
    [
        (lambda: AdditiveAttention(N), additive),
        (BilinearAttention, bilinear),
        (DotProductAttention, scaled_dot_product),
        (lambda: DotProductAttention(scale=False), dot_product),
        (lambda: GaussianKernelAttention(1.7, trainable=True), gaussian),
    ],
)
@settings(deadline=None, max_examples=6, derandomize=True, phases=[Phase.generate])
@given(st.integers(0, 2**32 - 1))
def test_output_weights_and_gradients_equal_the_formula_with_any_masks(
    gradients, weight_gradients, make, score, seed
):
    random = np.random.default_rng(seed)
    t, s = random.choice([(T, S), (1, S), (T, 1)])
    masks, allowed = some_masks(random, t, s, num_heads=1)
    layer, mask = make(), allowed[:, 0]
    query, key, value = inputs = INPUTS[0][:, :t], INPUTS[1][:, :s], INPUTS[2][:, :s]
    output, weights = layer(*single(inputs), **masks, return_attention_scores=True)
    exact = [*inputs, *weights_of(layer)]
    scores = score(query, key, *weights_of(layer))
    expected, expected_weights = attention(scores, value, mask)
    np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-5)
    np.testing.assert_array_equal(layer(*single(inputs), **masks), output)

    # Padding may be anything.
    given, (queries, keys) = single(inputs), unpadded(masks, t, s)
    for x, left in zip(given, (queries, keys, keys), strict=True):
        x[~left] = random.choice([np.nan, np.inf, 1e30])
    np.testing.assert_array_equal(layer(*given, **masks), output)
    direction = random.normal(size=(B, t, 13))

    def loss(*arrays):
        return ops.sum(ops.multiply(layer(*arrays, **masks), direction.astype(np.float32)))

    def exact_loss(query, key, value, *weights):
        return (attention(score(query, key, *weights), value, mask)[0] * direction).sum()

    found = gradients(loss, *given)
    tensors = [ops.convert_to_tensor(x) for x in given]
    found += weight_gradients(layer, lambda: loss(*tensors))
    same_slopes(found, exact_loss, exact, random, tolerance=1e-3)
    for gradient, left in zip(found[:3], (queries, keys, keys), strict=True):
        assert (gradient[~left] == 0).all()


def test_queries_and_keys_may_have_different_sizes_and_values_default_to_keys():
    query, key = RANDOM.normal(size=(2, 3, 5)), RANDOM.normal(size=(2, 7, 4))
    for layer, score in ((AdditiveAttention(4), additive), (BilinearAttention(), bilinear)):
        output = layer(*single([query, key]))
        scores = score(query, key, *weights_of(layer))
        expected, _ = attention(scores, key, np.ones((2, 3, 7), bool))
        np.testing.assert_allclose(output, expected, atol=1e-5)


@pytest.mark.parametrize(
    "layer",
    [AdditiveAttention(4), BilinearAttention(), DotProductAttention(), GaussianKernelAttention()],
)
def test_a_bias_is_added_to_the_scores(layer):
    query, key, value = single(INPUTS)
    mask = np.random.default_rng(2).random((B, T, S)) < 0.7
    bias = np.random.default_rng(3).normal(size=(T, S)).astype(np.float32)
    given = {"attention_mask": mask, "return_attention_scores": True}
    _, plain = layer(query, key, value, **given)
    _, found = layer(query, key, value, attention_bias=bias, **given)
    expected = np.float64(plain) * np.exp(bias)
    total = expected.sum(-1, keepdims=True)
    np.testing.assert_allclose(found, expected / np.where(total, total, 1), atol=1e-5)
