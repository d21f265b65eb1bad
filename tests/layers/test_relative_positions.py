"""Position schemes; `test_multi_head.py` compares the output of each with its formula."""

import numpy as np
import pytest
from attention_of_heads import SCHEMES, B, T, bucket_by_integers, normal, some_layer
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn import RotaryEmbedding, ShawRelativePosition, T5RelativeBias
from keras_attn.layers.offsets import by_offset, by_pair, offsets
from keras_attn.layers.relative_positions import alibi_slopes

X = normal(B, T, 8)
OPTIONS = {"num_kv_heads": 1, "value_dim": 4, "output_shape": 5, "use_gate": True}
OPTIONS |= {"qk_norm": "rms", "soft_cap": 1.5, "use_sinks": True, "window": 3}


@settings(deadline=None, max_examples=10, derandomize=True)
@given(st.integers(0, 5), st.integers(0, 5))
def test_skew_finds_each_key_at_its_offset_and_back(num_queries, num_keys):
    num_offsets = max(num_queries, 1) + num_keys - 1
    assert tuple(offsets(num_queries, num_keys).shape) == (num_offsets,)
    x = np.arange(2.0 * num_queries * num_offsets).reshape(2, num_queries, num_offsets)
    t, s = np.ogrid[:num_queries, :num_keys]
    pairs = ops.convert_to_numpy(by_pair(ops.convert_to_tensor(x)))
    np.testing.assert_array_equal(pairs, x[:, t, s - t + num_queries - 1])
    expected = np.zeros_like(x)
    expected[:, t, s - t + num_queries - 1] = pairs
    np.testing.assert_array_equal(by_offset(ops.convert_to_tensor(pairs)), expected)


@pytest.mark.parametrize(
    "scheme, options", [*((scheme, {"num_kv_heads": 1}) for scheme in SCHEMES), ("rotary", OPTIONS)]
)
def test_steps_with_cache_equal_the_whole_sequence_whose_order_matters(scheme, options):
    layer = some_layer(scheme, [X, X], **options)
    whole, weights = layer(X, X, use_causal_mask=True, return_attention_scores=True)
    cache = layer.make_cache(B, T + 2)
    for start, end in ((0, 3), (3, 4), (4, T)):  # steps of several sizes
        part = X[:, start:end]
        given = {"start": ops.convert_to_tensor(start), "return_attention_scores": True}
        output, seen, cache = layer(part, part, use_causal_mask=True, cache=cache, **given)
        np.testing.assert_allclose(output, whole[:, start:end], atol=1e-4)
        np.testing.assert_allclose(seen[..., :T], weights[:, :, start:end], atol=1e-5)
        assert (ops.convert_to_numpy(seen)[..., T:] == 0).all()
    change = np.abs(ops.convert_to_numpy(layer(X, X) - layer(X, X[:, ::-1]))).max()
    assert change < 1e-3 if scheme == "none" else change > 1e-3


def test_buckets_equal_exact_integer_arithmetic():
    offset = range(-300, 301)
    both = [bucket_by_integers(abs(o), 8, 16, 128) + 16 * (o > 0) for o in offset]
    behind = [bucket_by_integers(max(-o, 0), 16, 32, 128) for o in offset]
    for bidirectional, expected in ((True, both), (False, behind)):
        scheme = T5RelativeBias(bidirectional=bidirectional)
        buckets = scheme.bucket(ops.convert_to_tensor(np.array(offset, np.int32)))
        assert ops.convert_to_numpy(buckets).tolist() == expected
        assert max(expected) == 31


def test_slopes_of_eight_heads_halve_from_one_half_and_those_of_three_interpolate():
    np.testing.assert_allclose(alibi_slopes(8), [2.0**-h for h in range(1, 9)])
    np.testing.assert_allclose(alibi_slopes(3), [2**-4, 2**-8, 2**-2])


def test_last_feature_of_an_odd_head_is_not_turned():
    x = normal(1, 4, 2, 5)
    turned = ops.convert_to_numpy(RotaryEmbedding().rotate(ops.convert_to_tensor(x), start=3))
    np.testing.assert_array_equal(turned[..., -1], x[..., -1])
    np.testing.assert_allclose((turned**2).sum(-1), (x**2).sum(-1), rtol=1e-5)


def test_no_tensor_of_queries_by_keys_by_features_is_needed():
    scheme = ShawRelativePosition(3)
    scheme.build((None, None, 3, 4))
    terms = scheme.terms(1000, 900)
    assert tuple(terms.keys.shape) == tuple(terms.values.shape) == (1899, 4)
