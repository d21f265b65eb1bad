"""Scaled dot-product attention of several heads: scores, weights, sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras import backend, ops

from keras_attn.relative import OffsetTerms, by_offset, by_pair
from keras_attn.softmax import weigh

# Up to this number of queries, such as in decoding, transposing the scores is faster than `einsum`.
FEW_ROWS = 8


def precise_dtype(dtype: Any) -> str:
    """Dtype of sums of many numbers: float64 for float64, else float32."""
    return "float64" if backend.standardize_dtype(dtype) == "float64" else "float32"


def score_dtype(dtype: Any) -> str:
    """Dtype of scores: float32 for float16, which ends at 65504, else the dtype itself."""
    dtype = backend.standardize_dtype(dtype)
    return "float32" if dtype == "float16" else dtype


def match_batch(x: Any, other: Any) -> Any:
    """`x` repeated to the batch size of `other` if the batch size of `x` is 1.

    `matmul` of rank 4 must not broadcast: on TensorFlow with oneDNN the result is wrong
    (tensorflow/tensorflow#123109). Nothing is repeated if the batch sizes are known to be equal.

    Args:
        x: Tensor `(B, ...)` or `(1, ...)`.
        other: Tensor `(B, ...)`.
    """
    is_known = isinstance(x.shape[0], int) and x.shape[0] != 1
    if is_known or x.shape[0] == other.shape[0] == 1:
        return x
    return ops.broadcast_to(x, (ops.shape(other)[0], *ops.shape(x)[1:]))


def times_transposed(left: Any, right: Any) -> Any:
    """`left @ right^T` of rank 3 or 4 without a copy of `right^T`.

    `ops.matmul` would need the copy in eager mode, for gradients and under XLA.
    """
    num_rows = left.shape[-2]
    if isinstance(num_rows, int) and num_rows <= FEW_ROWS:
        return ops.swapaxes(ops.matmul(right, ops.swapaxes(left, -1, -2)), -1, -2)
    # Without `optimize`, Keras transposes on TensorFlow too.
    equation = "bhtx,bhsx->bhts" if len(left.shape) == 4 else "btx,bsx->bts"
    return ops.einsum(equation, left, right, optimize="greedy")


def multiply(left: Any, right: Any, product: Callable[[Any, Any], Any] = ops.matmul) -> Any:
    """`left @ right`, one key-value head of `right` for each group of heads of `left`.

    Args:
        left: `(B, H, T, X)`.
        right: `(B, G, X, Y)`, `G` a divisor of `H`.
        product: Another product of tensors of rank 4. Defaults to `ops.matmul`.

    Returns:
        `(B, H, T, Y)`.
    """
    num_heads, num_groups = left.shape[1], right.shape[1]
    if num_heads == num_groups:
        return product(left, right)
    batch_size, _, num_queries, _ = ops.shape(left)
    rows = product(as_groups(left, num_groups), right)
    return ops.reshape(rows, (batch_size, num_heads, num_queries, ops.shape(rows)[-1]))


def multiply_by_matrix(x: Any, matrix: Any) -> Any:
    """`x @ matrix` of `(B, H, T, X)` and `(X, Y)`, as a product of two matrices."""
    *lead, size = ops.shape(x)
    rows = ops.reshape(x, (lead[0] * lead[1] * lead[2], size))
    return ops.reshape(ops.matmul(rows, matrix), (*lead, ops.shape(matrix)[-1]))


def as_groups(x: Any, num_groups: int) -> Any:
    """`(B, H, T, X)` as `(B, G, H/G * T, X)`: joins the heads that share a key-value head."""
    batch_size, num_heads, num_queries, size = ops.shape(x)
    return ops.reshape(x, (batch_size, num_groups, num_heads // num_groups * num_queries, size))


def score(
    queries: Any, keys: Any, terms: OffsetTerms, soft_cap: float | None = None, mask: Any = None
) -> Any:
    """Scores of queries and keys.

    Args:
        queries: Scaled queries `(B, H, T, K)`.
        keys: `(B, G, S, K)`, `G` a divisor of `H`.
        terms: `OffsetTerms` of a position scheme.
        soft_cap: Bound `c` of the scores, applied last as `c * tanh(score / c)` (Gemma Team 2024,
            section 2). Defaults to None, no bound.
        mask: Joined mask. Only used with `soft_cap`, to keep NaN behind the mask out of gradients.

    Returns:
        `(B, H, T, S)`; float32 for float16, whose products overflow.
    """
    dtype = score_dtype(queries.dtype)
    queries, keys = ops.cast(queries, dtype), ops.cast(keys, dtype)
    scores = multiply(queries, keys, times_transposed)
    if terms.keys is not None:
        vectors = ops.cast(terms.keys, dtype)
        scores = scores + by_pair(multiply_by_matrix(queries, ops.transpose(vectors)))
    if terms.bias is not None:
        bias = ops.cast(terms.bias, dtype)[:, None]  # (H, 1, R)
        bias = ops.broadcast_to(bias, (bias.shape[0], ops.shape(queries)[2], ops.shape(bias)[-1]))
        scores = scores + by_pair(bias)
    return scores if soft_cap is None else cap_scores(scores, soft_cap, mask)


def cap_scores(scores: Any, soft_cap: float, mask: Any = None) -> Any:
    """`c * tanh(score / c)` in float32 at least; 0 behind the mask, so that no NaN stands there."""
    scores = ops.cast(scores, precise_dtype(scores.dtype))
    if mask is not None:
        scores = ops.where(mask, scores, ops.zeros_like(scores))
    return soft_cap * ops.tanh(scores / soft_cap)


def add_sinks_axes(sinks: Any) -> Any:
    """Sinks `(H,)` as `(H, 1, 1)`; None as None."""
    return None if sinks is None else ops.convert_to_tensor(sinks)[:, None, None]


def pool(weights: Any, values: Any, terms: OffsetTerms) -> Any:
    """Sums `(B, H, T, Kv)` of finite values `(B, G, S, Kv)` by weights `(B, H, T, S)`."""
    values = ops.cast(values, weights.dtype)
    sums = multiply(weights, values)
    if terms.values is not None:
        vectors = ops.cast(terms.values, sums.dtype)
        sums = sums + multiply_by_matrix(by_offset(weights), vectors)
    return sums


def attend(
    queries: Any,
    keys: Any,
    values: Any,
    mask: Any,
    terms: OffsetTerms,
    drop: Callable[[Any], Any],
    soft_cap: float | None = None,
    sinks: Any = None,
    values_are_finite: bool = False,
) -> tuple[Any, Any]:
    """Attention of all queries at once.

    Args:
        queries: Scaled queries `(B, H, T, K)`.
        keys: `(B, G, S, K)`, `G` a divisor of `H`.
        values: `(B, G, S, Kv)`.
        mask: Joined mask `(B, H, T, S)`, its sizes 1 where it broadcasts, or None.
        terms: `OffsetTerms` of a position scheme.
        drop: Function that applies dropout to the weights.
        soft_cap: Bound `c` of the scores: `c * tanh(score / c)`. Defaults to None, no bound.
        sinks: Logits `(H,)` that take part in the denominator of the softmax alone. Defaults to
            None.
        values_are_finite: Whether no guard against NaN behind the mask is needed. Defaults to
            False.

    Returns:
        Sums `(B, H, T, Kv)`, as of `pool_seen`, and weights `(B, H, T, S)`.
    """
    scores = score(queries, keys, terms, soft_cap, mask)
    weights, _ = weigh(scores, mask, add_sinks_axes(sinks), values_are_finite)
    weights = ops.cast(weights, values.dtype)
    if values_are_finite:
        return pool(drop(weights), values, terms), weights
    return pool_seen(drop(weights), values, mask, terms), weights


def pool_seen(weights: Any, values: Any, mask: Any, terms: OffsetTerms) -> Any:
    """`pool` of values that may be inf or NaN, without effect behind the mask.

    Args:
        weights: `(B, H, T, S)`.
        values: `(B, G, S, Kv)`, `G` a divisor of `H`.
        mask: Joined mask `(B, H, T, S)`, its sizes 1 where it broadcasts, or None.
        terms: `OffsetTerms` of a position scheme.

    Returns:
        Sums `(B, H, T, Kv)`; NaN where a query may attend to a value that is not finite.
    """
    if mask is None:
        return pool(weights, values, terms)
    values, finite = keep_finite(values)
    sums = pool(weights, values, terms)
    spoilt = sees_any(mask, ops.logical_not(finite))
    return ops.where(spoilt, ops.cast(float("nan"), sums.dtype), sums)


def keep_finite(values: Any) -> tuple[Any, Any]:
    """Values `(B, G, S, Kv)` with 0 instead of inf or NaN, and which positions are finite."""
    finite = ops.all(ops.isfinite(values), axis=(1, 3))  # (B, S)
    return ops.where(ops.expand_dims(finite, (1, 3)), values, ops.zeros_like(values)), finite


def sees_any(mask: Any, marked: Any) -> Any:
    """Whether a query may attend to any marked key, `(B, H, T, 1)`.

    Args:
        mask: `(B, H, T, S)`, its sizes 1 where it broadcasts.
        marked: Boolean `(B, S)`.
    """
    return ops.any(ops.logical_and(mask, ops.expand_dims(marked, (1, 2))), axis=-1, keepdims=True)
