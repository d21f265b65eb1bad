"""Properties of attention for any sizes, lengths and numbers."""

import numpy as np
import pytest
from attention_of_heads import small_blocks
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
MAKERS = {
    "additive": lambda: AdditiveAttention(5),
    "bilinear": lambda: BilinearAttention(),
    "dot product": lambda: DotProductAttention(),
    "gaussian": lambda: GaussianKernelAttention(2.0),
    "grouped heads": lambda: MultiHeadAttention(8, 4, num_kv_heads=2, use_bias=True),
    "shaw": lambda: MultiHeadAttention(D, 3, position=ShawRelativePosition(3)),
    "t5": lambda: MultiHeadAttention(D, 3, position=T5RelativeBias(8, 16)),
    "rotary": lambda: MultiHeadAttention(D, 3, position=RotaryEmbedding()),
    "window": lambda: MultiHeadAttention(D, 3, window=3),
    "blocks": lambda: MultiHeadAttention(D, 3, position=T5RelativeBias(8, 16), blockwise=True),
}
every_layer = pytest.mark.parametrize("name", MAKERS)

randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)
sizes = st.sampled_from([(1, 1, 1), (2, 3, 5), (3, 5, 2), (1, 7, 3)])  # B, T, S
bad_numbers = st.sampled_from([np.nan, np.inf, -np.inf, 3e38])
few = settings(deadline=None, max_examples=3, derandomize=True)


def arrays(random, batch_size, num_queries, num_keys):
    shapes = ((num_queries, D), (num_keys, D), (num_keys, D))
    return [random.normal(size=(batch_size, *shape)).astype(np.float32) for shape in shapes]


@every_layer
@few
@given(random=randoms, size=sizes, num_more=st.integers(1, 4), bad=bad_numbers)
@small_blocks()
def test_amount_of_padding_changes_nothing(name, random, size, num_more, bad):
    layer, (query, key, value) = MAKERS[name](), arrays(random, *size)
    lens = random.integers(0, size[2] + 1, size[0])
    expected = layer(query, key, value, valid_lens=lens)
    more = [np.pad(x, ((0, 0), (0, num_more), (0, 0)), constant_values=bad) for x in (key, value)]
    np.testing.assert_allclose(layer(query, *more, valid_lens=lens), expected, atol=1e-5)


@every_layer
@few
@given(random=randoms, length=st.sampled_from([2, 5, 7]))
@small_blocks()
def test_the_future_changes_neither_value_nor_gradient_of_the_past(name, gradients, random, length):
    layer, (x, _, _) = MAKERS[name](), arrays(random, 2, length, length)
    now = int(random.integers(1, length))

    def past(x):
        return layer(x, x, use_causal_mask=True)[:, :now]

    expected = past(x)
    (clean,) = gradients(lambda x: ops.sum(past(x) ** 2), x)
    x[:, now:] = 1e3 * random.normal(size=x[:, now:].shape)
    np.testing.assert_allclose(past(x), expected, atol=1e-6)
    (gradient,) = gradients(lambda x: ops.sum(past(x) ** 2), x)
    np.testing.assert_allclose(gradient, clean, atol=1e-5)
    assert (gradient[:, now:] == 0).all() and (gradient[:, :now] != 0).any()
