"""Explicit positions, and options of multi-head attention with a cache."""

import numpy as np
import pytest
from attention_of_heads import draw_weights, normal

from keras_attn import MultiHeadAttention, RotaryEmbedding

B, T, D, H = 2, 5, 6, 3
QUERY, KEY = normal(B, T, D), normal(B, 7, D, seed=3)


def rotary_layer(**options):
    layer = MultiHeadAttention(D, H, position=RotaryEmbedding(), **options)
    return draw_weights(layer, QUERY, QUERY)


def test_steps_with_a_cache_are_the_whole_with_every_option():
    layer = rotary_layer(
        **{"num_kv_heads": 1, "value_dim": 4, "output_shape": 5, "use_gate": True},
        **{"qk_norm": "rms", "soft_cap": 1.5, "use_sinks": True, "window": 3},
    )
    expected = layer(QUERY, QUERY, use_causal_mask=True)
    cache = layer.make_cache(B, T)
    for t in range(T):
        step = QUERY[:, t : t + 1]
        output, cache = layer(step, step, use_causal_mask=True, cache=cache, start=t)
        np.testing.assert_allclose(output[:, 0], expected[:, t], atol=1e-5)


def test_explicit_positions_skip_padding():
    layer = rotary_layer()
    padded = np.concatenate([np.zeros((B, 2, D), np.float32), QUERY], axis=1)
    mask = np.arange(T + 2) >= 2
    positions = np.maximum(np.arange(T + 2) - 2, 0)
    expected = layer(QUERY, QUERY, use_causal_mask=True)
    given = {"key_mask": np.broadcast_to(mask, (B, T + 2)), "use_causal_mask": True}
    for each in (positions, np.broadcast_to(positions, (B, T + 2))):
        output = layer(padded, padded, positions=each, **given)
        np.testing.assert_allclose(output[:, 2:], expected, atol=1e-5)


def test_positions_that_mean_nothing_are_named():
    rotary = RotaryEmbedding()
    for position, key, count, message in [
        (None, QUERY, T, "`positions` require `position=RotaryEmbedding"),
        (rotary, QUERY, 3, r"`positions` must have shape \(B, T\) or \(T,\)"),
        (rotary, KEY, T, "require as many keys as queries"),
    ]:
        with pytest.raises(ValueError, match=message):
            MultiHeadAttention(D, H, position=position)(QUERY, key, positions=np.arange(count))
