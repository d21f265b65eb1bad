import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from keras_attn import AdditiveAttention, DotProductAttention
from keras_attn.scoring import weighted_sum

B, T, S, D, N = 2, 3, 5, 7, 11


def softmax(scores, mask):
    powers = np.where(mask, np.exp(scores - scores.max(-1, keepdims=True)), 0.0)
    total = powers.sum(-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


def additive(query, key, value, mask, layer):
    w_q, w_k, w_v = (w.numpy().astype(np.float64) for w in layer.weights)
    features = np.tanh((query @ w_q)[:, :, None] + (key @ w_k)[:, None])
    weights = softmax((features @ w_v)[..., 0], mask)
    return weights @ value, weights


def dot_product(query, key, value, mask, layer):
    scores = np.einsum("btd,bsd->bts", query, key) / (np.sqrt(D) if layer.scale else 1.0)
    weights = softmax(scores, mask)
    return weights @ value, weights


CASES = [
    (lambda: AdditiveAttention(N), additive),
    (lambda: DotProductAttention(), dot_product),
    (lambda: DotProductAttention(scale=False), dot_product),
]
MASKS = [
    ({}, np.ones((B, T, S), bool)),
    ({"valid_lens": np.array([3, 0])}, np.arange(S) < np.array([3, 0])[:, None, None]),
    (
        {"valid_lens": np.array([[1, 2, 3], [5, 0, 4]])},
        np.arange(S) < np.array([[1, 2, 3], [5, 0, 4]])[:, :, None],
    ),
    ({"use_causal_mask": True}, np.tril(np.ones((T, S), bool))[None]),
    (
        {"key_mask": np.arange(S) != 2, "attention_mask": np.eye(T, S, 2, bool)},
        (np.eye(T, S, 2, dtype=bool) & (np.arange(S) != 2))[None],
    ),
]


@pytest.fixture
def inputs():
    random = np.random.default_rng(7)
    return [random.normal(size=shape) for shape in ((B, T, D), (B, S, D), (B, S, 13))]


@pytest.mark.parametrize("make, reference", CASES)
@pytest.mark.parametrize("masks, mask", MASKS)
def test_output_and_weights_equal_the_formula(inputs, make, reference, masks, mask):
    masks = dict(masks)
    if "key_mask" in masks:
        masks["key_mask"] = np.broadcast_to(masks["key_mask"], (B, S))
    layer = make()
    single = [x.astype(np.float32) for x in inputs]
    output, weights = layer(*single, **masks, return_attention_scores=True)
    expected, expected_weights = reference(*inputs, np.broadcast_to(mask, (B, T, S)), layer)
    np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-5)
    np.testing.assert_array_equal(layer(*single, **masks), output)


@pytest.mark.parametrize("make, reference", CASES)
def test_gradient_of_the_inputs_equals_finite_differences(inputs, make, reference):
    layer = make()
    mask = np.broadcast_to(np.arange(S) < np.array([3, 0])[:, None, None], (B, T, S))
    variables = [tf.Variable(x.astype(np.float32)) for x in inputs]
    direction = np.random.default_rng(3).normal(size=(B, T, 13))
    with tf.GradientTape() as tape:
        output = layer(*variables, valid_lens=[3, 0])
        loss = tf.reduce_sum(output * direction.astype(np.float32))
    gradients = tape.gradient(loss, variables)
    random = np.random.default_rng(4)
    for i, gradient in enumerate(gradients):
        step = random.normal(size=inputs[i].shape)
        ends = []
        for sign in (1, -1):
            moved = list(inputs)
            moved[i] = inputs[i] + sign * 1e-5 * step
            ends.append((reference(*moved, mask, layer)[0] * direction).sum())
        numeric = (ends[0] - ends[1]) / 2e-5
        assert np.sum(gradient.numpy() * step) == pytest.approx(numeric, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("make, _", CASES)
def test_nan_behind_the_mask_reaches_neither_output_nor_gradient(inputs, make, _):
    layer = make()
    query, key, value = (x.astype(np.float32) for x in inputs)
    clean = layer(query, key, value, valid_lens=[3, 0])
    key[0, 3:] = value[0, 3:] = key[1] = value[1] = np.nan
    variables = [tf.Variable(x) for x in (query, key, value)]
    with tf.GradientTape() as tape:
        output = layer(*variables, valid_lens=[3, 0])
        loss = tf.reduce_sum(output)
    np.testing.assert_array_equal(output, clean)
    assert (output.numpy()[1] == 0).all()
    for gradient in tape.gradient(loss, variables + layer.trainable_variables):
        assert np.isfinite(gradient.numpy()).all()


def test_value_of_the_future_reaches_only_those_who_see_it():
    value = np.ones((1, 3, 2), np.float32)
    value[0, 2] = np.nan
    weights = np.tril(np.ones((1, 3, 3), np.float32))
    output = ops.convert_to_numpy(weighted_sum(weights, value, weights.astype(bool)))
    np.testing.assert_array_equal(output[0, :2], [[1, 1], [2, 2]])
    assert np.isnan(output[0, 2]).all()


def test_value_defaults_to_key(inputs):
    query, key, _ = (x.astype(np.float32) for x in inputs)
    layer = DotProductAttention()
    np.testing.assert_array_equal(layer(query, key), layer(query, key, key))


def test_additive_takes_queries_and_keys_of_different_sizes():
    assert AdditiveAttention(4)(np.ones((2, 3, 5)), np.ones((2, 7, 6))).shape == (2, 3, 6)


def test_dot_product_of_different_sizes_is_refused():
    with pytest.raises(ValueError, match="`query` and `key` must have the same last dimension"):
        DotProductAttention()(np.ones((2, 3, 5)), np.ones((2, 7, 6)))


def test_mask_by_head_is_refused_by_a_layer_with_one_head():
    with pytest.raises(ValueError, match=r"broadcast to \(B, T, S\) for a layer with one head"):
        DotProductAttention()(
            np.ones((2, 3, 5)), np.ones((2, 7, 5)), attention_mask=np.ones((2, 1, 3, 7), bool)
        )


def test_width_that_is_no_positive_integer_is_refused():
    with pytest.raises(ValueError, match="Received: num_hiddens=0"):
        AdditiveAttention(0)


def test_dropout_drops_weights_in_training_only(inputs):
    query, key, value = (x.astype(np.float32) for x in inputs)
    layer = DotProductAttention(dropout=0.5)
    np.testing.assert_array_equal(layer(query, key, value), layer(query, key, value))
    assert (layer(query, key, value, training=True) != layer(query, key, value)).numpy().any()


def test_mask_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"`attention_mask` must have shape .*B=2, T=3, S=7\."):
        DotProductAttention()(
            np.ones((2, 3, 5)), np.ones((2, 7, 5)), attention_mask=np.ones((2, 3, 6), bool)
        )
