import numpy as np
import pytest
from keras import ops

from keras_attn import (
    AdditiveAttention,
    BilinearAttention,
    DotProductAttention,
    GaussianKernelAttention,
)

B, T, S, D, N = 2, 3, 5, 7, 11


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


every_layer = pytest.mark.parametrize(
    "make, score",
    [
        pytest.param(lambda: AdditiveAttention(N), additive, id="additive"),
        pytest.param(BilinearAttention, bilinear, id="bilinear"),
        pytest.param(DotProductAttention, scaled_dot_product, id="scaled dot product"),
        pytest.param(lambda: DotProductAttention(scale=False), dot_product, id="dot product"),
        pytest.param(lambda: GaussianKernelAttention(1.7, trainable=True), gaussian, id="gaussian"),
    ],
)
KEYS = np.arange(S)
LENGTHS = np.array([3, 0])
LENGTHS_OF_EACH = np.array([[1, 2, 3], [5, 0, 4]])
BAND = np.eye(T, S, 2, dtype=bool) | np.eye(T, S, dtype=bool)
BY_BATCH = np.stack([BAND, np.zeros((T, S), bool)])
SEEN_KEYS = np.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 0]], bool)
SEEN_QUERIES = np.array([[1, 0, 1], [1, 1, 1]], bool)
CAUSAL = np.tril(np.ones((T, S), bool))
MASKS = [
    ({}, np.ones((B, T, S), bool)),
    ({"valid_lens": LENGTHS}, KEYS < LENGTHS[:, None, None]),
    ({"valid_lens": LENGTHS_OF_EACH}, KEYS < LENGTHS_OF_EACH[:, :, None]),
    ({"use_causal_mask": True}, CAUSAL),
    ({"attention_mask": BAND}, BAND),
    ({"attention_mask": BY_BATCH}, BY_BATCH),
    ({"query_mask": SEEN_QUERIES}, SEEN_QUERIES[:, :, None]),
    ({"key_mask": SEEN_KEYS}, SEEN_KEYS[:, None]),
    ({"value_mask": SEEN_KEYS}, SEEN_KEYS[:, None]),
    (
        {
            "valid_lens": np.array([4, 5]),
            "use_causal_mask": True,
            "attention_mask": BAND,
            "query_mask": SEEN_QUERIES,
            "key_mask": SEEN_KEYS,
        },
        (KEYS < np.array([4, 5])[:, None, None])
        & CAUSAL
        & BAND
        & SEEN_QUERIES[:, :, None]
        & SEEN_KEYS[:, None],
    ),
]
every_mask = pytest.mark.parametrize("masks, mask", MASKS, ids=["+".join(m) for m, _ in MASKS])


@pytest.fixture
def inputs():
    random = np.random.default_rng(7)
    return [random.normal(size=shape) for shape in ((B, T, D), (B, S, D), (B, S, 13))]


def single(arrays):
    return [x.astype(np.float32) for x in arrays]


def weights_of(layer):
    return [w.astype(np.float64) for w in layer.get_weights()]


def slope(function, arrays, i, step):
    """The derivative of `function(*arrays)` as `arrays[i]` moves along `step`."""
    moved = [
        function(*arrays[:i], arrays[i] + sign * 1e-5 * step, *arrays[i + 1 :]) for sign in (1, -1)
    ]
    return (moved[0] - moved[1]) / 2e-5


@every_layer
@every_mask
def test_output_and_weights_equal_the_formula(inputs, make, score, masks, mask):
    layer = make()
    output, weights = layer(*single(inputs), **masks, return_attention_scores=True)
    query, key, value = inputs
    scores = score(query, key, *weights_of(layer))
    expected, expected_weights = attention(scores, value, np.broadcast_to(mask, (B, T, S)))
    np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-5)
    np.testing.assert_array_equal(layer(*single(inputs), **masks), output)


@every_layer
@every_mask
def test_gradients_of_inputs_and_weights_equal_finite_differences(
    inputs, make, score, masks, mask, gradients, weight_gradients
):
    layer = make()
    layer(*single(inputs))
    direction = np.random.default_rng(3).normal(size=(B, T, 13))
    mask = np.broadcast_to(mask, (B, T, S))

    def loss(query, key, value):
        output = layer(query, key, value, **masks)
        return ops.sum(ops.multiply(output, direction.astype(np.float32)))

    def exact_loss(query, key, value, *weights):
        return (attention(score(query, key, *weights), value, mask)[0] * direction).sum()

    found = gradients(loss, *single(inputs))
    if layer.trainable_weights:
        tensors = [ops.convert_to_tensor(x) for x in single(inputs)]
        found += weight_gradients(layer, lambda: loss(*tensors))
    exact = [*inputs, *weights_of(layer)]
    random = np.random.default_rng(4)
    assert len(found) == len(exact)
    for i, gradient in enumerate(found):
        step = random.normal(size=exact[i].shape)
        numeric = slope(exact_loss, exact, i, step)
        assert np.sum(gradient * step) == pytest.approx(numeric, rel=1e-4, abs=1e-4)


@every_layer
def test_nan_behind_the_mask_reaches_neither_output_nor_gradient(
    inputs, make, score, gradients, weight_gradients
):
    layer = make()
    query, key, value = single(inputs)
    clean = ops.convert_to_numpy(layer(query, key, value, valid_lens=LENGTHS))
    key[0, 3:] = value[0, 3:] = key[1] = value[1] = np.nan
    key[0, 4] = value[0, 4] = np.inf

    def loss(*arrays):
        return ops.sum(layer(*arrays, valid_lens=LENGTHS))

    output = ops.convert_to_numpy(layer(query, key, value, valid_lens=LENGTHS))
    np.testing.assert_array_equal(output, clean)
    assert (output[1] == 0).all()
    found = gradients(loss, query, key, value)
    if layer.trainable_weights:
        tensors = [ops.convert_to_tensor(x) for x in (query, key, value)]
        found += weight_gradients(layer, lambda: loss(*tensors))
    for gradient in found:
        assert np.isfinite(gradient).all()


def test_value_defaults_to_key(inputs):
    query, key, _ = single(inputs)
    layer = DotProductAttention()
    np.testing.assert_array_equal(layer(query, key), layer(query, key, key))


def test_additive_takes_queries_and_keys_of_different_sizes():
    assert AdditiveAttention(4)(np.ones((2, 3, 5)), np.ones((2, 7, 6))).shape == (2, 3, 6)


def test_bilinear_takes_queries_and_keys_of_different_sizes():
    random = np.random.default_rng(5)
    query, key = random.normal(size=(2, 3, 5)), random.normal(size=(2, 7, 4))
    layer = BilinearAttention()
    output = layer(*single([query, key]))
    (matrix,) = weights_of(layer)
    assert matrix.shape == (5, 4)
    expected, _ = attention(bilinear(query, key, matrix), key, np.ones((2, 3, 7), bool))
    np.testing.assert_allclose(output, expected, atol=1e-5)


def test_bilinear_with_the_identity_is_the_dot_product(inputs):
    layer = BilinearAttention()
    query, key, value = single(inputs)
    layer(query, key, value)
    layer.set_weights([np.eye(D)])
    expected = DotProductAttention(scale=False)(query, key, value)
    np.testing.assert_allclose(layer(query, key, value), expected, atol=1e-6)


@pytest.mark.parametrize("make", [DotProductAttention, GaussianKernelAttention])
def test_different_sizes_are_refused_where_queries_and_keys_are_compared(make):
    with pytest.raises(ValueError, match="`query` and `key` must have the same last dimension"):
        make()(np.ones((2, 3, 5)), np.ones((2, 7, 6)))


def test_mask_by_head_is_refused_by_a_layer_with_one_head():
    with pytest.raises(ValueError, match=r"broadcast to \(B, T, S\) for a layer with one head"):
        DotProductAttention()(
            np.ones((2, 3, 5)), np.ones((2, 7, 5)), attention_mask=np.ones((2, 1, 3, 7), bool)
        )


def test_width_that_is_no_positive_integer_is_refused():
    with pytest.raises(ValueError, match="Received: num_hiddens=0"):
        AdditiveAttention(0)


def test_dropout_drops_weights_in_training_only(inputs):
    query, key, value = single(inputs)
    layer = DotProductAttention(dropout=0.5)
    calm = ops.convert_to_numpy(layer(query, key, value))
    np.testing.assert_array_equal(layer(query, key, value), calm)
    assert (ops.convert_to_numpy(layer(query, key, value, training=True)) != calm).any()


def test_mask_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"`attention_mask` must have shape .*B=2, T=3, S=7\."):
        DotProductAttention()(
            np.ones((2, 3, 5)), np.ones((2, 7, 5)), attention_mask=np.ones((2, 3, 6), bool)
        )
