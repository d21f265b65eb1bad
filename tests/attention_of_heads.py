"""Multi-head attention with any options, and its formula in float64."""

import contextlib

import numpy as np
import pytest
from keras import ops

from keras_attn import (
    AlibiBias,
    MultiHeadAttention,
    RotaryEmbedding,
    ShawRelativePosition,
    T5RelativeBias,
)
from keras_attn.layers import blocks

B, T, S, H, D = 2, 7, 5, 6, 30
SCHEMES = {
    "none": lambda: None,
    "shaw": lambda: ShawRelativePosition(2),
    "t5": lambda: T5RelativeBias(8, 20),
    "alibi": AlibiBias,
    "rotary": RotaryEmbedding,
}
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)
# Values of each option besides its default.
OPTIONS = {
    "num_kv_heads": (1, 2),
    "head_size": (4, 7),
    "window": (2, 3),
    "value_dim": (4,),
    "output_shape": (11,),
    "use_bias": (True,),
    "use_gate": (True,),
    "qk_norm": ("rms",),
    "soft_cap": (1.5,),
    "use_sinks": (True,),
}


def normal(*shape, seed=2):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def number(tensor):
    """The number of a tensor, inside a derivative of JAX too."""
    return float(getattr(tensor, "primal", tensor))


def some_inputs(num_queries=T, num_keys=S, memory_batch=B):
    """Query, key and value."""
    shapes = ((B, num_queries, 8), (memory_batch, num_keys, 9), (memory_batch, num_keys, 9))
    return [normal(*shape, seed=seed) for seed, shape in enumerate(shapes)]


def some_options(random):
    """Each option half of the time."""
    return {
        name: values[random.integers(len(values))]
        for name, values in OPTIONS.items()
        if random.random() < 0.5
    }


def draw_weights(layer, *inputs, scale=0.5):
    """Build the layer, and draw all of its weights so that none is zero or like another."""
    layer.build(*(x.shape for x in inputs))
    random = np.random.default_rng(1)
    for weight in layer.trainable_variables:
        weight.assign(scale * random.normal(size=weight.shape))
    return layer


def some_layer(scheme="none", inputs=None, **options):
    layer = MultiHeadAttention(D, H, position=SCHEMES[scheme](), **options)
    return draw_weights(layer, *(some_inputs() if inputs is None else inputs))


@contextlib.contextmanager
def small_blocks(queries=3):
    """Blocks of at most 3 queries, where a layer computes block by block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_QUERIES", queries)
        yield


def some_masks(random, num_queries=T, num_keys=S, num_heads=H, start=0, window=None):
    """Arguments of a call, each half of the time, and what they leave: `(B, H, T, S)`."""
    t, s = np.ogrid[start : start + num_queries, :num_keys]
    lengths = random.integers(0, num_keys + 1, (B, random.choice([1, num_queries])))
    shapes = [(num_queries, num_keys), (1, num_queries, num_keys), (B, 1, num_keys)]
    shapes += [(B, num_heads, num_queries, num_keys)] * (num_heads > 1)
    pairs = random.random(shapes[random.integers(len(shapes))]) < 0.7
    query_mask = random.random((B, num_queries)) < 0.7
    key_mask, value_mask = random.random((2, B, num_keys)) < 0.8
    parts = {
        "valid_lens": (
            lengths[:, 0] if lengths.shape[1] == 1 else lengths,
            s < lengths[:, None, :, None],
        ),
        "attention_mask": (pairs, pairs[:, None] if pairs.ndim == 3 else pairs),
        "use_causal_mask": (True, s <= t),
        "query_mask": (query_mask, query_mask[:, None, :, None]),
        "key_mask": (key_mask, key_mask[:, None, None]),
        "value_mask": (value_mask, value_mask[:, None, None]),
    }
    given = {}
    allowed = np.ones((B, num_heads, num_queries, num_keys), bool)
    if window is not None:
        allowed &= np.abs(s - t) < window
    for name, (argument, part) in parts.items():
        if random.random() < 0.5:
            given[name] = argument
            allowed = allowed & part
    return given, allowed


def unpadded(given, num_queries=T, num_keys=S):
    """Queries `(B, T)` and keys `(B, S)` that are not padding by masks of one dimension."""
    lens = np.asarray(given.get("valid_lens", num_keys))
    lens = lens.max(1) if lens.ndim == 2 else np.broadcast_to(lens, B)
    keys = np.arange(num_keys) < lens[:, None]
    for name in ("key_mask", "value_mask"):
        keys = keys & given.get(name, True)
    return given.get("query_mask", np.ones((B, num_queries), bool)), keys


def some_call(scheme, seed):
    """A layer with some options, arguments of a call besides its inputs, and what they leave."""
    random = np.random.default_rng(seed)
    options, start = some_options(random), int(random.integers(3))
    masks, allowed = some_masks(random, start=start, window=options.get("window"))
    return some_layer(scheme, **options), {**masks, "start": start}, allowed


def formula(layer, query, key, value, allowed=True, start=0, bias=0.0):
    """Output `(B, T, D)` and weights `(B, H, T, S)` by the papers' formulas, in float64."""
    weights = {"/".join(w.path.split("/")[-2:]): in_float64(w) for w in layer.weights}
    size = layer.head_size or layer.num_hiddens // layer.num_heads
    num_groups = layer.num_kv_heads

    def project(x, name, num_heads):
        x = x.astype(np.float64) @ weights[f"{name}/kernel"] + weights.get(f"{name}/bias", 0.0)
        return x.reshape(*x.shape[:2], num_heads, -1).swapaxes(1, 2)

    def norm(x, name):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weights[f"{name}/scale"]

    q = project(query, "query", layer.num_heads)
    k, v = project(key, "key", num_groups), project(value, "value", num_groups)
    if layer.qk_norm == "rms":
        q, k = norm(q, "query_norm"), norm(k, "key_norm")
    if isinstance(layer.position, RotaryEmbedding):
        q, k = turn(q, start), turn(k, 0)
    k, v = (np.repeat(x, layer.num_heads // num_groups, axis=1) for x in (k, v))
    t, s = np.ogrid[start : start + q.shape[2], : k.shape[2]]
    of_keys, of_values, of_offsets = position_terms(layer, s - t)
    scores = (np.einsum("bhtk,bhsk->bhts", q, k) + np.einsum("bhtk,tsk->bhts", q, of_keys)) / (
        size**0.5
    )
    scores = scores + of_offsets + bias
    if layer.soft_cap is not None:
        scores = layer.soft_cap * np.tanh(scores / layer.soft_cap)
    scores = np.where(allowed, scores, -np.inf)
    highest = np.maximum(scores.max(-1, keepdims=True), -1e9)
    powers = np.exp(scores - highest)
    total = powers.sum(-1, keepdims=True)
    if layer.use_sinks:
        (sinks,) = (weight for name, weight in weights.items() if name.endswith("sinks"))
        total = total + np.exp(np.minimum(sinks[:, None, None] - highest, 700.0))
    found = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
    sums = np.einsum("bhts,bhsv->bhtv", found, v) + np.einsum("bhts,tsv->bhtv", found, of_values)
    rows = sums.swapaxes(1, 2).reshape(*query.shape[:2], -1)
    if layer.use_gate:
        gate = query @ weights["gate/kernel"] + weights.get("gate/bias", 0.0)
        rows = rows / (1 + np.exp(-gate))
    return rows @ weights["output/kernel"] + weights.get("output/bias", 0.0), found


def in_float64(x):
    return np.float64(ops.convert_to_numpy(x))


def position_terms(layer, offset):
    """Added to keys and values as a query sees them, and to the scores; offsets are `s - t`."""
    scheme, nothing = layer.position, np.zeros((*offset.shape, 1))
    if isinstance(scheme, ShawRelativePosition):
        rows = np.clip(offset, -scheme.max_distance, scheme.max_distance) + scheme.max_distance
        of_keys, of_values = (in_float64(table)[rows] for table in scheme.weights)
        return of_keys, of_values, 0.0
    if isinstance(scheme, T5RelativeBias):
        table = in_float64(scheme.weights[0])
        rows = [
            [bucket_by_integers(abs(o), 2, 4, 20) + 4 * (o > 0) for o in row]
            for row in offset.tolist()
        ]
        return nothing, nothing, table[rows].transpose(2, 0, 1)
    if isinstance(scheme, AlibiBias):
        slopes = 2.0 ** np.array([-2, -4, -6, -8, -1, -3])  # of four heads, then of eight
        return nothing, nothing, -slopes[:, None, None] * np.abs(offset)
    return nothing, nothing, 0.0


def bucket_by_integers(distance, exact, side, farthest):
    """`exact * (farthest / exact)^(j / n) <= distance`, without logarithms."""
    if distance < exact:
        return distance
    wide = side - exact
    return exact + sum(
        distance**wide * exact**j >= exact**wide * farthest**j for j in range(1, wide)
    )


def turn(heads, start):
    """Pairs of features as complex numbers, turned by their position; an odd one is left."""
    size, num_pairs = heads.shape[-1], heads.shape[-1] // 2
    pairs = heads[..., 0 : 2 * num_pairs : 2] + 1j * heads[..., 1::2]
    positions = np.arange(start, start + heads.shape[2])[:, None]
    pairs = pairs * np.exp(1j * positions * 10000.0 ** (-2 * np.arange(num_pairs) / size))
    turned = heads.copy()
    turned[..., 0 : 2 * num_pairs : 2], turned[..., 1::2] = pairs.real, pairs.imag
    return turned
