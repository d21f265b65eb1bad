"""Attention of heads and a reference implementation in float64, for tests of the code paths."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import any_size, blockwise
from keras_attn.any_size import attend_any_size, view_keys
from keras_attn.relative import OffsetTerms

B, T, S, H = 2, 7, 5, 4
K, KV, G = 3, 2, 2
CAUSAL = {"use_causal_mask": True, "valid_lens": [3, 0]}
# Ways to run a function. "any size" is for TensorFlow only: JAX and PyTorch know all sizes.
WAYS = {
    "tensorflow": ["eager", "graph", "xla", "any size", "any size, xla"],
    "jax": ["eager", "xla"],
    "torch": ["eager"],
}[keras.backend.backend()]


def every_way(*left_out, slow=()):
    """Parametrize a test by `way`, except for the ways in `left_out`; some of them are slow."""
    ways = [
        pytest.param(way, marks=pytest.mark.slow) if way in slow else way
        for way in WAYS
        if way not in left_out
    ]
    return pytest.mark.parametrize("way", ways)


def normal(*shape, seed=2):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def go(by_blocks, function, block_queries=3, block_weights=2**23):
    """Call `function()` with every layer forced onto the blockwise path or the other path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(any_size, "BLOCKWISE_WEIGHTS", 0 if by_blocks else 2**62)
        patch.setattr(blockwise, "BLOCK_QUERIES", block_queries)
        patch.setattr(blockwise, "BLOCK_WEIGHTS", block_weights)
        return function()


def some_inputs(batch_size=B, num_queries=T, num_keys=S, memory_batch=None, terms=("bias",)):
    """Input arrays by name; heads are `(B, T, H * K)`: only the last size is always known."""
    memory_batch = batch_size if memory_batch is None else memory_batch
    num_offsets = max(num_queries, 1) + num_keys - 1
    shapes = {"bias": (num_offsets, H), "keys": (num_offsets, K), "values": (num_offsets, KV)}
    return {
        "q": normal(batch_size, num_queries, H * K),
        "k": normal(memory_batch, num_keys, G * K, seed=3),
        "v": normal(memory_batch, num_keys, G * KV, seed=4),
        "sinks": normal(H, seed=5),
        **{name: normal(*shapes[name], seed=6) for name in terms},
    }


def as_heads(x, num_heads):
    """Split `(B, T, H * K)` into heads `(B, H, T, K)`."""
    x = ops.reshape(x, (*ops.shape(x)[:2], num_heads, x.shape[-1] // num_heads))
    return ops.transpose(x, (0, 2, 1, 3))


def attention_of(names, masks, soft_cap=None, **kwargs):
    """Function of the named tensors that returns the sums; constants determine the code path."""

    def function(*tensors):
        parts = dict(zip(names, map(ops.convert_to_tensor, tensors), strict=True))
        terms = {name: parts[name] for name in OffsetTerms._fields if name in parts}
        if "bias" in terms:
            terms["bias"] = ops.transpose(terms["bias"])
        sums, _ = attend_any_size(
            *(as_heads(parts[name], n) for name, n in zip("qkv", (H, G, G), strict=True)),
            view_keys(parts["q"], ops.shape(parts["k"])[1], H, masks),
            OffsetTerms(**terms),
            soft_cap=soft_cap,
            sinks=parts.get("sinks"),
            **kwargs,
        )
        return sums

    return function


def heads_in_float64(parts):
    arrays = zip("qkv", (H, G, G), strict=True)
    return [np.float64(ops.convert_to_numpy(as_heads(parts[name], n))) for name, n in arrays]


def formula(parts, mask, soft_cap=None):
    """Reference sums `(B, H, T, Kv)` in float64, computed one query at a time."""
    q, k, v = heads_in_float64(parts)
    batch_size, _, num_queries, _ = q.shape
    sums = np.zeros((batch_size, H, num_queries, v.shape[-1]))
    for b, h, t in np.ndindex(sums.shape[:3]):
        memory, group = b % len(k), h * G // H
        row = np.arange(k.shape[2]) - t + num_queries - 1
        keys, values = k[memory, group], v[memory, group]
        if "keys" in parts:
            keys = keys + parts["keys"][row]
        if "values" in parts:
            values = values + parts["values"][row]
        scores = keys @ q[b, h, t]
        if "bias" in parts:
            scores = scores + parts["bias"][row, h]
        if soft_cap is not None:
            scores = soft_cap * np.tanh(scores / soft_cap)
        allowed = mask[b, t]
        powers = np.where(allowed, np.exp(scores), 0.0)
        total = powers.sum() + (np.exp(parts["sinks"][h]) if "sinks" in parts else 0.0)
        if allowed.any():
            sums[b, h, t] = powers / total @ values
    return sums


def causal_and_lengths(num_queries=T, num_keys=S, lens=(3, 0)):
    t, s = np.ogrid[:num_queries, :num_keys]
    return (s <= t) & (s < np.array(lens)[:, None, None])


def run(way, compiled, function):
    if way == "eager":
        return function
    return compiled(function, jit_compile="xla" in way, any_size="any" in way)
