"""Properties of attention for any sizes, lengths, masks and numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn import (
    AdditiveAttention,
    BilinearAttention,
    DotProductAttention,
    GaussianKernelAttention,
    MultiHeadAttention,
    RotaryEmbedding,
    ShawRelativePosition,
    T5RelativeBias,
    masked_softmax,
)

pytestmark = pytest.mark.filterwarnings("ignore:You are using a softmax over axis -1")

D = 6
WITHOUT_POSITIONS = {
    "additive": lambda: AdditiveAttention(5),
    "bilinear": lambda: BilinearAttention(),
    "dot product": lambda: DotProductAttention(),
    "gaussian": lambda: GaussianKernelAttention(2.0),
    "grouped heads": lambda: MultiHeadAttention(8, 4, num_kv_heads=2, use_bias=True),
}
WITH_POSITIONS = {
    "shaw": lambda: MultiHeadAttention(D, 3, position=ShawRelativePosition(3)),
    "t5": lambda: MultiHeadAttention(D, 3, position=T5RelativeBias(8, 16)),
    "rotary": lambda: MultiHeadAttention(D, 3, position=RotaryEmbedding()),
    "window": lambda: MultiHeadAttention(D, 3, window=3),
}
MAKERS = {**WITHOUT_POSITIONS, **WITH_POSITIONS}
every_layer = pytest.mark.parametrize("name", MAKERS)

seeds = st.integers(0, 2**32 - 1)
sizes = st.sampled_from([(1, 1, 1), (2, 3, 5), (3, 5, 2), (1, 7, 3)])  # B, T, S
bad_numbers = st.sampled_from([np.nan, np.inf, -np.inf, 3e38])
few = settings(deadline=None, max_examples=3, derandomize=True)


def arrays(random, batch_size, num_queries, num_keys):
    shapes = ((num_queries, D), (num_keys, D), (num_keys, D))
    return [random.normal(size=(batch_size, *shape)).astype(np.float32) for shape in shapes]


def masks(random, batch_size, num_queries, num_keys):
    """Some masks of several kinds at once, and the keys that nobody may see."""
    lens = random.integers(0, num_keys + 1, batch_size)
    key_mask = random.random((batch_size, num_keys)) < 0.8
    given = {
        "valid_lens": lens,
        "key_mask": key_mask,
        "attention_mask": random.random((batch_size, num_queries, num_keys)) < 0.8,
        "query_mask": random.random((batch_size, num_queries)) < 0.8,
        "use_causal_mask": bool(random.integers(2)),
    }
    given = {k: given[k] for k in given if k in ("valid_lens", "key_mask") or random.random() < 0.5}
    return given, (np.arange(num_keys) >= lens[:, None]) | ~key_mask


@every_layer
@few
@given(seed=seeds, size=sizes)
def test_weights_sum_to_one_or_zero_and_asking_for_them_changes_nothing(name, seed, size):
    random = np.random.default_rng(seed)
    layer, inputs = MAKERS[name](), arrays(random, *size)
    given, unseen = masks(random, *size)
    output, weights = layer(*inputs, **given, return_attention_scores=True)
    np.testing.assert_allclose(layer(*inputs, **given), output, atol=1e-6)
    weights = ops.convert_to_numpy(weights)
    sums = weights.sum(-1)
    np.testing.assert_allclose(sums, sums > 0.5, atol=1e-5)
    assert (weights >= 0).all()
    assert (np.moveaxis(weights, -1, 1)[unseen] == 0).all()


@every_layer
@few
@given(seed=seeds, size=sizes, bad=bad_numbers)
def test_what_is_behind_a_mask_reaches_neither_output_nor_gradient(
    name, gradients, weight_gradients, seed, size, bad
):
    random = np.random.default_rng(seed)
    layer, (query, key, value) = MAKERS[name](), arrays(random, *size)
    given, unseen = masks(random, *size)

    def loss(query, key, value):
        return ops.sum(layer(query, key, value, **given) ** 2)

    expected = layer(query, key, value, **given)
    clean = gradients(loss, query, key, value)
    clean += weight_gradients(layer, lambda: loss(query, key, value))
    key[unseen] = value[unseen] = bad
    np.testing.assert_array_equal(layer(query, key, value, **given), expected)
    found = gradients(loss, query, key, value)
    found += weight_gradients(layer, lambda: loss(query, key, value))
    for gradient, other in zip(found, clean, strict=True):
        assert np.isfinite(gradient).all()
        np.testing.assert_allclose(gradient, other, atol=1e-5)
    assert (found[1][unseen] == 0).all() and (found[2][unseen] == 0).all()


@every_layer
@few
@given(seed=seeds, size=sizes, num_more=st.integers(1, 4), bad=bad_numbers)
def test_amount_of_padding_changes_nothing(name, seed, size, num_more, bad):
    random = np.random.default_rng(seed)
    layer, (query, key, value) = MAKERS[name](), arrays(random, *size)
    lens = random.integers(0, size[2] + 1, size[0])
    expected = layer(query, key, value, valid_lens=lens)
    more = [np.pad(x, ((0, 0), (0, num_more), (0, 0)), constant_values=bad) for x in (key, value)]
    np.testing.assert_allclose(layer(query, *more, valid_lens=lens), expected, atol=1e-5)


@every_layer
@few
@given(seed=seeds, length=st.sampled_from([2, 5, 7]), bad=bad_numbers)
def test_the_future_changes_neither_value_nor_gradient_of_the_past(
    name, gradients, seed, length, bad
):
    random = np.random.default_rng(seed)
    layer, (x, _, _) = MAKERS[name](), arrays(random, 2, length, length)
    now = int(random.integers(1, length))

    def past(x):
        return layer(x, x, use_causal_mask=True)[:, :now]

    expected = past(x)
    (clean,) = gradients(lambda x: ops.sum(past(x) ** 2), x)
    x[:, now:] = 7.0 * random.normal(size=x[:, now:].shape)
    np.testing.assert_allclose(past(x), expected, atol=1e-6)
    (gradient,) = gradients(lambda x: ops.sum(past(x) ** 2), x)
    np.testing.assert_allclose(gradient, clean, atol=1e-5)
    assert (gradient[:, now:] == 0).all()
    x[:, now:] = bad
    np.testing.assert_allclose(past(x), expected, atol=1e-6)


@pytest.mark.parametrize("name", WITHOUT_POSITIONS)
@few
@given(seed=seeds, size=sizes)
def test_without_positions_the_order_of_keys_means_nothing(name, seed, size):
    random = np.random.default_rng(seed)
    layer, (query, key, value) = MAKERS[name](), arrays(random, *size)
    mask = random.random((size[0], size[2])) < 0.8
    output, weights = layer(query, key, value, key_mask=mask, return_attention_scores=True)
    order, turns = random.permutation(size[2]), random.permutation(size[1])
    others = layer(
        query[:, turns],
        key[:, order],
        value[:, order],
        key_mask=mask[:, order],
        return_attention_scores=True,
    )
    output, weights = ops.convert_to_numpy(output), ops.convert_to_numpy(weights)
    np.testing.assert_allclose(others[0], output[:, turns], atol=1e-5)
    np.testing.assert_allclose(others[1], weights[..., turns, :][..., order], atol=1e-5)


@few
@given(seed=seeds)
@pytest.mark.parametrize("name", ["shaw", "t5", "rotary", "window"])
def test_with_relative_positions_offsets_alone_count(name, seed):
    random = np.random.default_rng(seed)
    layer, (x, _, _) = MAKERS[name](), arrays(random, 2, 5, 5)
    moved = np.pad(x, ((0, 0), (3, 2), (0, 0)))
    mask = np.pad(np.ones((2, 5), bool), ((0, 0), (3, 2)))
    output = ops.convert_to_numpy(layer(moved, moved, key_mask=mask))
    np.testing.assert_allclose(output[:, 3:8], layer(x, x), atol=1e-5)


@settings(deadline=None, max_examples=15, derandomize=True)
@given(
    seed=seeds,
    shape=st.lists(st.sampled_from([1, 2, 3, 5]), min_size=1, max_size=5),
    dtype=st.sampled_from(["float16", "bfloat16", "float32", "float64"]),
    bad=bad_numbers,
)
def test_softmax_hides_what_is_masked_at_any_rank_in_any_float_type(
    gradients, seed, shape, dtype, bad
):
    random = np.random.default_rng(seed)
    scores = random.normal(size=shape).astype(np.float32)
    mask = random.random(shape) < 0.7
    amounts = random.normal(size=shape).astype(np.float32)
    hidden = np.where(mask, scores, np.float32(bad))

    def loss(scores):
        weights = masked_softmax(ops.cast(scores, dtype), mask=mask)
        return ops.sum(ops.multiply(ops.cast(weights, "float32"), amounts))

    weights = masked_softmax(ops.cast(hidden, dtype), mask=mask)
    assert weights.dtype == ops.cast(hidden, dtype).dtype
    single = ops.convert_to_numpy(ops.cast(weights, "float32"))
    same = ops.cast(masked_softmax(ops.cast(scores, dtype), mask=mask), "float32")
    np.testing.assert_array_equal(single, same)
    assert (single[~mask] == 0).all()
    precision = {"float16": 1e-3, "bfloat16": 1e-2}.get(dtype, 1e-6)
    np.testing.assert_allclose(single.sum(-1), mask.any(-1), atol=5 * precision)
    powers = np.where(mask, np.exp(scores.astype(np.float64)), 0)
    total = powers.sum(-1, keepdims=True)
    np.testing.assert_allclose(single, powers / np.where(total == 0, 1, total), atol=2 * precision)
    (gradient,) = gradients(loss, hidden)
    np.testing.assert_allclose(gradient, gradients(loss, scores)[0], atol=precision)
    assert (gradient[~mask] == 0).all()
