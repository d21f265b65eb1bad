"""Scaled dot-product attention of several heads: scores, weights, sums."""

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_attn.layers.dropout import drop
from keras_attn.layers.masks import Masks
from keras_attn.layers.offsets import by_offset, by_pair
from keras_attn.layers.precision import precise_dtype, score_dtype
from keras_attn.layers.products import multiply, multiply_by_matrix, times_transposed
from keras_attn.layers.softmax import weigh


class Inputs(NamedTuple):
    """Everything in one call of attention that has a gradient.

    Attributes:
        queries: Scaled queries `(B, H, T, K)`.
        keys: `(B, G, S, K)`, `G` a divisor of `H`.
        values: `(B, G, S, Kv)`.
        bias: `(H, R)`, added to the scores by offset (`OffsetTerms`), or None.
        key_vectors: `(R, K)`, added to a key as a query sees it, or None.
        value_vectors: `(R, Kv)`, added to a value as a query sees it, or None.
        sinks: Logits `(H,)` that take part in the denominator of the softmax alone, or None.
        attention_bias: Added to the scores, broadcastable to `(B, H, T, S)`, or None.
    """

    queries: Any
    keys: Any
    values: Any
    bias: Any = None
    key_vectors: Any = None
    value_vectors: Any = None
    sinks: Any = None
    attention_bias: Any = None


class Rules(NamedTuple):
    """Rules by which scores become weights.

    Attributes:
        soft_cap: Bound `c` of the scores, `c * tanh(score / c)` (Gemma Team 2024, section 2), or
            None.
        dropout: Rate at which weights are dropped.
        seed: Layer with a generator of seeds, from which `attend` draws one of two integers; not
            needed if `dropout` is 0.
    """

    soft_cap: float | None = None
    dropout: float = 0.0
    seed: Any = None


def attend_at_once(inputs: Inputs, masks: Masks, rules: Rules) -> tuple[Any, Any]:
    """Attention with all weights in memory.

    Args:
        inputs: Tensors with a gradient.
        masks: Masks of the call.
        rules: From scores to weights; `seed` is two integers.

    Returns:
        Sums `(B, H, T, Kv)` and weights `(B, H, T, S)`.
    """
    scores = score(inputs, rules.soft_cap)
    sinks = None if inputs.sinks is None else inputs.sinks[:, None, None]
    weights = ops.cast(weigh(scores, masks.join(), sinks), inputs.values.dtype)
    dropped = weights
    if rules.dropout:
        dropped = drop(weights, rules.dropout, _Seed(rules.seed))
    sums = multiply(dropped, inputs.values)
    if inputs.value_vectors is not None:
        vectors = ops.cast(inputs.value_vectors, sums.dtype)
        sums = sums + multiply_by_matrix(by_offset(dropped), vectors)
    return sums, weights


def score(inputs: Inputs, soft_cap: float | None = None) -> Any:
    """Return scores `(B, H, T, S)`; float32 for float16, whose products overflow."""
    dtype = score_dtype(inputs.queries.dtype)
    queries, keys = ops.cast(inputs.queries, dtype), ops.cast(inputs.keys, dtype)
    scores = multiply(queries, keys, times_transposed)
    if inputs.key_vectors is not None:
        vectors = ops.transpose(ops.cast(inputs.key_vectors, dtype))
        scores = scores + by_pair(multiply_by_matrix(queries, vectors))
    if inputs.bias is not None:
        bias = ops.cast(inputs.bias, dtype)[:, None]  # (H, 1, R)
        bias = ops.broadcast_to(bias, (bias.shape[0], ops.shape(queries)[2], ops.shape(bias)[-1]))
        scores = scores + by_pair(bias)
    if inputs.attention_bias is not None:
        scores = scores + ops.cast(inputs.attention_bias, dtype)
    if soft_cap is not None:
        scores = ops.cast(scores, precise_dtype(dtype))
        scores = soft_cap * ops.tanh(scores / soft_cap)
    return scores


class _Seed(keras.random.SeedGenerator):
    """Constant seed, so that the gradient drops the same weights as the forward pass."""

    def __init__(self, seed: Any) -> None:
        self._seed = seed
        self._initial_seed = 0  # with None, Keras on PyTorch would ignore the seed

    def next(self, ordered: bool = True) -> Any:
        return self._seed
