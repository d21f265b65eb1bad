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

randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)
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
    given = {"valid_lens": lens, "key_mask": key_mask}
    others = {
        "attention_mask": random.random((batch_size, num_queries, num_keys)) < 0.8,
        "query_mask": random.random((batch_size, num_queries)) < 0.8,
        "use_causal_mask": bool(random.integers(2)),
    }
    given |= {name: mask for name, mask in others.items() if random.random() < 0.5}
    return given, (np.arange(num_keys) >= lens[:, None]) | ~key_mask


@every_layer
@few
@given(random=randoms, size=sizes)
def test_weights_sum_to_one_or_zero_and_asking_for_them_changes_nothing(name, random, size):
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
@given(random=randoms, size=sizes, bad=bad_numbers)
def test_what_is_padding_reaches_neither_output_nor_gradient(
    name, gradients, weight_gradients, random, size, bad
):
    layer, (query, key, value) = MAKERS[name](), arrays(random, *size)
    given, unseen = masks(random, *size)

    def loss(query, key, value):
        return ops.sum(layer(query, key, value, **given) ** 2)

    def find():
        found = gradients(loss, query, key, value)
        return found + weight_gradients(layer, lambda: loss(query, key, value))

    expected, clean = layer(query, key, value, **given), find()
    key[unseen] = value[unseen] = bad
    np.testing.assert_array_equal(layer(query, key, value, **given), expected)
    found = find()
    for gradient, other in zip(found, clean, strict=True):
        assert np.isfinite(gradient).all()
        np.testing.assert_allclose(gradient, other, atol=1e-5)
    assert (found[1][unseen] == 0).all() and (found[2][unseen] == 0).all()


@every_layer
@few
@given(random=randoms, size=sizes, num_more=st.integers(1, 4), bad=bad_numbers)
def test_amount_of_padding_changes_nothing(name, random, size, num_more, bad):
    layer, (query, key, value) = MAKERS[name](), arrays(random, *size)
    lens = random.integers(0, size[2] + 1, size[0])
    expected = layer(query, key, value, valid_lens=lens)
    more = [np.pad(x, ((0, 0), (0, num_more), (0, 0)), constant_values=bad) for x in (key, value)]
    np.testing.assert_allclose(layer(query, *more, valid_lens=lens), expected, atol=1e-5)


@every_layer
@few
@given(random=randoms, length=st.sampled_from([2, 5, 7]))
def test_the_future_changes_neither_value_nor_gradient_of_the_past(name, gradients, random, length):
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


@pytest.mark.parametrize("name", WITHOUT_POSITIONS)
@few
@given(random=randoms, size=sizes)
def test_without_positions_the_order_of_queries_and_keys_means_nothing(name, random, size):
    layer, (query, key, value) = MAKERS[name](), arrays(random, *size)
    mask = random.random((size[0], size[2])) < 0.8
    output = ops.convert_to_numpy(layer(query, key, value, key_mask=mask))
    order, turns = random.permutation(size[2]), random.permutation(size[1])
    moved = query[:, turns], key[:, order], value[:, order]
    others = layer(*moved, key_mask=mask[:, order])
    np.testing.assert_allclose(others, output[:, turns], atol=1e-5)


@pytest.mark.parametrize("name", WITH_POSITIONS)
@few
@given(random=randoms)
def test_with_relative_positions_offsets_alone_count(name, random):
    layer, (x, _, _) = MAKERS[name](), arrays(random, 2, 5, 5)
    moved = np.pad(x, ((0, 0), (3, 2), (0, 0)))
    mask = np.pad(np.ones((2, 5), bool), ((0, 0), (3, 2)))
    output = ops.convert_to_numpy(layer(moved, moved, key_mask=mask))
    np.testing.assert_allclose(output[:, 3:8], layer(x, x), atol=1e-5)
