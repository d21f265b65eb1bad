"""Options of multi-head attention against the formula, on every path."""

import numpy as np
import pytest
from keras import ops

from keras_attn import MultiHeadAttention, RotaryEmbedding, any_size

RANDOM = np.random.default_rng(3)
B, T, S, D, H = 2, 5, 7, 6, 3
QUERY, KEY = (RANDOM.normal(size=(B, n, D)).astype(np.float32) for n in (T, S))
LENS = np.array([4, 0])
OPTIONS = {
    "value_dim": 4,
    "output_shape": 5,
    "use_gate": True,
    "qk_norm": "rms",
    "soft_cap": 1.5,
    "use_sinks": True,
}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def formula(layer, query, key, lens, options):
    """The output head by head in float64."""
    weights = {"/".join(w.path.split("/")[-2:]): ops.convert_to_numpy(w) for w in layer.weights}
    size, value_size = D // H, options.get("value_dim", D // H)
    heads = []
    for h in range(H):
        part, value_part = (
            slice(h * size, (h + 1) * size),
            slice(h * value_size, (h + 1) * value_size),
        )
        q, k = query @ weights["query/kernel"][:, part], key @ weights["key/kernel"][:, part]
        v = key @ weights["value/kernel"][:, value_part]
        if options.get("qk_norm"):
            q, k = (x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) for x in (q, k))
            q, k = q * weights["query_norm/scale"], k * weights["key_norm/scale"]
        scores = np.einsum("btd,bsd->bts", q, k) / np.sqrt(size)
        if "soft_cap" in options:
            scores = options["soft_cap"] * np.tanh(scores / options["soft_cap"])
        powers = np.where(np.arange(S) < lens[:, None, None], np.exp(scores), 0)
        total = powers.sum(-1, keepdims=True)
        if options.get("use_sinks"):
            sinks = next(value for name, value in weights.items() if name.endswith("sinks"))
            total = total + np.exp(sinks[h])
        made = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0) @ v
        if options.get("use_gate"):
            made = made * sigmoid(query @ weights["gate/kernel"][:, value_part])
        heads.append(made)
    return np.concatenate(heads, -1) @ weights["output/kernel"]


def drawn(layer):
    """The layer, built, with weights that are no constants."""
    layer(QUERY, KEY)
    layer.set_weights([RANDOM.normal(size=w.shape) if w.ndim else w for w in layer.get_weights()])
    return layer


SINGLE = [{name: value} for name, value in OPTIONS.items()]


@pytest.mark.parametrize("options", [*SINGLE, OPTIONS], ids=lambda o: "+".join(o))
@pytest.mark.parametrize("by_blocks", [False, True])
def test_output_is_the_formula(options, by_blocks, monkeypatch):
    monkeypatch.setattr(any_size, "BLOCKWISE_WEIGHTS", 0 if by_blocks else 2**62)
    layer = drawn(MultiHeadAttention(D, H, **options))
    expected = formula(layer, QUERY.astype(float), KEY.astype(float), LENS, options)
    np.testing.assert_allclose(layer(QUERY, KEY, valid_lens=LENS), expected, atol=1e-4)


def test_steps_with_a_cache_are_the_whole():
    layer = drawn(MultiHeadAttention(D, H, **OPTIONS, num_kv_heads=1, position=RotaryEmbedding()))
    expected = layer(QUERY, QUERY, use_causal_mask=True)
    cache = layer.make_cache(B, T)
    for t in range(T):
        step = QUERY[:, t : t + 1]
        output, cache = layer(step, step, use_causal_mask=True, cache=cache, start=t)
        np.testing.assert_allclose(output[:, 0], expected[:, t], atol=1e-5)


def test_explicit_positions_skip_padding():
    layer = drawn(MultiHeadAttention(D, H, position=RotaryEmbedding()))
    padded = np.concatenate([np.zeros((B, 2, D), np.float32), QUERY], axis=1)
    mask = np.arange(T + 2) >= 2
    positions = np.maximum(np.arange(T + 2) - 2, 0)
    expected = layer(QUERY, QUERY, use_causal_mask=True)
    given = {"key_mask": np.broadcast_to(mask, (B, T + 2)), "use_causal_mask": True}
    for each in (positions, np.broadcast_to(positions, (B, T + 2))):
        output = layer(padded, padded, positions=each, **given)
        np.testing.assert_allclose(output[:, 2:], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("position", "positions", "message"),
    [
        (None, np.arange(T), "`positions` require `position=RotaryEmbedding"),
        (RotaryEmbedding(), np.arange(3), r"`positions` must have shape \(B, T\) or \(T,\)"),
    ],
)
def test_positions_that_mean_nothing_are_named(position, positions, message):
    layer = MultiHeadAttention(D, H, position=position)
    with pytest.raises(ValueError, match=message):
        layer(QUERY, QUERY, positions=positions)


def test_positions_of_another_number_of_keys_are_named():
    layer = MultiHeadAttention(D, H, position=RotaryEmbedding())
    with pytest.raises(ValueError, match="require as many keys as queries"):
        layer(QUERY, KEY, positions=np.arange(T))
