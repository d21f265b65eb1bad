import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn import (
    AlibiBias,
    MultiHeadAttention,
    RotaryEmbedding,
    ShawRelativePosition,
    T5RelativeBias,
)
from keras_attn.relative import alibi_slopes, by_offset, by_pair, offsets

B, T, S, D, H, K = 2, 5, 7, 12, 3, 4
SCHEMES = {
    "shaw": lambda: ShawRelativePosition(2),
    "t5": lambda: T5RelativeBias(8, 20),
    "alibi": AlibiBias,
    "rotary": RotaryEmbedding,
}
every_scheme = pytest.mark.parametrize("make", SCHEMES.values(), ids=SCHEMES)


def attention(make, **kwargs):
    """A layer whose weights, those of the scheme too, are neither zero nor alike."""
    layer = MultiHeadAttention(D, H, position=make(), **kwargs)
    layer.build((None, None, D), (None, None, D))
    random = np.random.default_rng(1)
    for weight in layer.weights:
        weight.assign(random.normal(size=weight.shape) * 0.5)
    return layer


def normal(*shape, seed=2):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def softmax(scores, mask):
    powers = np.where(mask, np.exp(scores - scores.max(-1, keepdims=True)), 0.0)
    return powers / powers.sum(-1, keepdims=True)


def reference(layer, query, key, start, change_scores=None, change_values=None, turn=None):
    """Causal attention in float64, one query, key and head at a time."""
    w_q, w_k, w_v, w_o = (w.numpy().astype(np.float64) for w in layer.weights[:4])
    output = np.zeros((len(query), query.shape[1], D))
    for b, t, h in np.ndindex(len(query), query.shape[1], H):
        part = slice(h * K, (h + 1) * K)
        q = query[b, t] @ w_q[:, part]
        seen = range(min(start + t + 1, key.shape[1]))
        scores, values = [], []
        for s in seen:
            k, v = key[b, s] @ w_k[:, part], key[b, s] @ w_v[:, part]
            turned = (turn(q, start + t), turn(k, s)) if turn else (q, k)
            extra = change_scores(q, s - t - start, h) if change_scores else 0.0
            scores.append(turned[0] @ turned[1] / math.sqrt(K) + extra)
            values.append(v + change_values(s - t - start) if change_values else v)
        powers = np.exp(np.array(scores) - max(scores))
        output[b, t, part] = (powers / powers.sum()) @ np.array(values)
    return output @ w_o


def bucket_by_integers(distance, exact, side, farthest):
    """`exact * (farthest / exact)^(j / n) <= distance`, without logarithms."""
    if distance < exact:
        return distance
    wide = side - exact
    return exact + sum(
        distance**wide * exact**j >= exact**wide * farthest**j for j in range(1, wide)
    )


@pytest.mark.parametrize("start", [0, 2])
@every_scheme
def test_output_equals_the_formula(make, start):
    layer = attention(make)
    query, key = normal(B, T, D), normal(B, S, D, seed=3)
    scheme = layer.position
    tables = [w.numpy().astype(np.float64) for w in scheme.weights]
    if isinstance(scheme, ShawRelativePosition):
        keys, values = tables
        changes = {
            "change_scores": lambda q, o, h: q @ keys[max(-2, min(2, o)) + 2] / math.sqrt(K),
            "change_values": lambda o: values[max(-2, min(2, o)) + 2],
        }
    elif isinstance(scheme, T5RelativeBias):
        changes = {
            "change_scores": lambda q, o, h: tables[0][
                bucket_by_integers(abs(o), 2, 4, 20) + 4 * (o > 0), h
            ]
        }
    elif isinstance(scheme, AlibiBias):
        slopes = [2**-4, 2**-8, 2**-2]  # two heads' slopes, then every other of four heads'
        changes = {"change_scores": lambda q, o, h: -slopes[h] * abs(o)}
    else:

        def turn(x, position):
            pairs = x[0::2] + 1j * x[1::2]
            pairs = pairs * np.exp(1j * position * 10000.0 ** (-2 * np.arange(K // 2) / K))
            return np.stack([pairs.real, pairs.imag], -1).reshape(-1)

        changes = {"turn": turn}
    output = layer(query, key, use_causal_mask=True, start=start)
    np.testing.assert_allclose(output, reference(layer, query, key, start, **changes), atol=2e-5)


@settings(deadline=None, max_examples=10, derandomize=True)
@given(st.integers(1, 6), st.integers(1, 6))
def test_skew_finds_each_key_at_its_offset_and_back(num_queries, num_keys):
    num_offsets = num_queries + num_keys - 1
    x = np.arange(2.0 * num_queries * num_offsets).reshape(2, num_queries, num_offsets)
    t, s = np.ogrid[:num_queries, :num_keys]
    pairs = ops.convert_to_numpy(by_pair(ops.convert_to_tensor(x)))
    np.testing.assert_array_equal(pairs, x[:, t, s - t + num_queries - 1])
    expected = np.zeros_like(x)
    expected[:, t, s - t + num_queries - 1] = pairs
    np.testing.assert_array_equal(by_offset(ops.convert_to_tensor(pairs)), expected)


@pytest.mark.parametrize("num_queries, num_keys", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("way", ["eager", "graph", "xla"])
def test_skew_of_no_query_or_key_is_empty(compiled, way, num_queries, num_keys):
    num_offsets = max(num_queries, 1) + num_keys - 1
    pair, offset = by_pair, by_offset
    if way != "eager":
        pair, offset = (compiled(f, jit_compile=way == "xla") for f in (pair, offset))
    pairs = pair(ops.ones((2, num_queries, num_offsets)))
    assert tuple(pairs.shape) == (2, num_queries, num_keys)
    back = offset(pairs)
    np.testing.assert_array_equal(back, np.zeros((2, num_queries, num_offsets)))
    assert tuple(offsets(num_queries, num_keys).shape) == (num_offsets,)


@settings(deadline=None, max_examples=10, derandomize=True)
@given(st.sampled_from(sorted(SCHEMES)), st.integers(1, 9), st.booleans())
def test_answer_depends_on_offsets_only(name, shift, causal):
    layer = attention(SCHEMES[name])
    x = normal(B, T, D)
    later = np.pad(x, ((0, 0), (shift, 0), (0, 0)), constant_values=9.0)
    is_real = np.broadcast_to(np.arange(shift + T) >= shift, (B, shift + T))
    output = layer(later, later, key_mask=is_real, use_causal_mask=causal)
    expected = layer(x, x, use_causal_mask=causal)
    np.testing.assert_allclose(output[:, shift:], expected, atol=2e-5)


@every_scheme
def test_steps_with_cache_equal_the_whole_sequence(make):
    layer = attention(make, num_kv_heads=1)
    x = normal(B, T, D)
    whole, weights = layer(x, x, use_causal_mask=True, return_attention_scores=True)
    cache = layer.make_cache(B, T + 3)
    for start, end in ((0, 2), (2, 3), (3, T)):
        part = x[:, start:end]
        output, seen, cache = layer(
            part,
            part,
            use_causal_mask=True,
            start=ops.convert_to_tensor(start),
            cache=cache,
            return_attention_scores=True,
        )
        np.testing.assert_allclose(output, whole[:, start:end], atol=2e-5)
        np.testing.assert_allclose(seen[..., :T], weights[:, :, start:end], atol=1e-5)


@every_scheme
def test_order_of_keys_matters(make):
    layer = attention(make)
    x = normal(B, T, D)
    assert np.abs(ops.convert_to_numpy(layer(x, x) - layer(x, x[:, ::-1]))).max() > 1e-3


@pytest.mark.parametrize(
    "bidirectional, exact, side", [(True, 8, 16), (False, 16, 32)], ids=["both", "behind"]
)
def test_buckets_equal_exact_integer_arithmetic(bidirectional, exact, side):
    scheme = T5RelativeBias(bidirectional=bidirectional)
    offset = np.arange(-300, 301)
    expected = [
        (bucket_by_integers(abs(o), exact, side, 128) + side * (o > 0))
        if bidirectional
        else bucket_by_integers(max(-o, 0), exact, side, 128)
        for o in offset.tolist()
    ]
    buckets = scheme.bucket(ops.convert_to_tensor(offset.astype(np.int32)))
    assert ops.convert_to_numpy(buckets).tolist() == expected
    assert max(expected) == 31


def test_slopes_of_eight_heads_halve_from_one_half():
    np.testing.assert_allclose(alibi_slopes(8), [2.0**-h for h in range(1, 9)])


def test_slopes_of_a_number_that_is_no_power_of_two_interpolate():
    np.testing.assert_allclose(alibi_slopes(3), [2**-4, 2**-8, 2**-2])


def test_last_feature_of_an_odd_head_is_not_turned():
    x = normal(1, 4, 2, 5)
    turned = ops.convert_to_numpy(RotaryEmbedding().rotate(ops.convert_to_tensor(x), start=3))
    np.testing.assert_array_equal(turned[..., -1], x[..., -1])
    np.testing.assert_allclose((turned**2).sum(-1), (x**2).sum(-1), rtol=1e-5)


def test_no_tensor_of_queries_by_keys_by_features_is_needed():
    scheme = ShawRelativePosition(3)
    scheme.build((None, None, H, K))
    terms = scheme.terms(1000, 900)
    assert tuple(terms.keys.shape) == tuple(terms.values.shape) == (1899, K)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ShawRelativePosition(0), "`max_distance` must be a positive integer. Received"),
        (lambda: T5RelativeBias(7), "`num_buckets` must be an even integer of at least 4"),
        (lambda: T5RelativeBias(32, 8), "`max_distance` must be above 8"),
        (lambda: RotaryEmbedding(1), "`base` must be a number above 1. Received: base=1"),
        (
            lambda: MultiHeadAttention(8, 2, position="rotary"),
            "`position` must be None, ShawRelativePosition.*Received: position='rotary'",
        ),
    ],
)
def test_values_that_mean_nothing_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
