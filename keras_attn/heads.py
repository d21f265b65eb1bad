"""Scaled dot-product attention of several heads: scores, weights, sums."""

from __future__ import annotations

from keras import ops

from keras_attn.relative import by_offset, by_pair
from keras_attn.softmax import masked_softmax


def transpose(x):
    """`x` with its last two axes exchanged."""
    return ops.swapaxes(x, -1, -2)


def multiply(left, right):
    """`left @ right`, a key-value head of `right` for each group of heads of `left`.

    Args:
        left: `(B, H, T, X)`.
        right: `(B, G, X, Y)`, `G` a divisor of `H`.

    Returns:
        `(B, H, T, Y)`.
    """
    num_heads, num_groups = left.shape[1], right.shape[1]
    if num_heads == num_groups:
        return ops.matmul(left, right)
    batch_size, _, num_queries, _ = ops.shape(left)
    product = ops.matmul(as_groups(left, num_groups), right)
    return ops.reshape(product, (batch_size, num_heads, num_queries, ops.shape(right)[-1]))


def as_groups(x, num_groups):
    """`(B, H, T, X)` as `(B, G, H/G * T, X)`: heads that share a key-value head, one long head."""
    batch_size, num_heads, num_queries, size = ops.shape(x)
    return ops.reshape(x, (batch_size, num_groups, num_heads // num_groups * num_queries, size))


def score(queries, keys, terms):
    """Scores `(B, H, T, S)` of scaled queries `(B, H, T, K)` and keys `(B, G, S, K)`."""
    scores = multiply(queries, transpose(keys))
    if terms.keys is not None:
        vectors = ops.cast(terms.keys, queries.dtype)
        scores = scores + by_pair(ops.matmul(queries, transpose(vectors)))
    if terms.bias is not None:
        bias = ops.cast(terms.bias, queries.dtype)[:, None]  # (H, 1, R)
        bias = ops.broadcast_to(bias, (bias.shape[0], ops.shape(queries)[2], ops.shape(bias)[-1]))
        scores = scores + by_pair(bias)
    return scores


def pool(weights, values, terms):
    """Sums `(B, H, T, K)` of finite values `(B, G, S, K)` by weights `(B, H, T, S)`."""
    sums = multiply(weights, values)
    if terms.values is not None:
        sums = sums + ops.matmul(by_offset(weights), ops.cast(terms.values, sums.dtype))
    return sums


def attend(queries, keys, values, mask, terms, drop):
    """Attention of all queries at once.

    Args:
        queries: Scaled queries `(B, H, T, K)`.
        keys: `(B, G, S, K)`, `G` a divisor of `H`.
        values: `(B, G, S, K)`.
        mask: Joined mask `(B, H, T, S)`, its sizes 1 where it broadcasts, or None.
        terms: `OffsetTerms` of a position scheme.
        drop: Function that applies dropout to the weights.

    Returns:
        Sums `(B, H, T, K)`, as of `pool_seen`, and weights `(B, H, T, S)`.
    """
    weights = masked_softmax(score(queries, keys, terms), mask=mask)
    return pool_seen(drop(weights), values, mask, terms), weights


def pool_seen(weights, values, mask, terms):
    """`pool` of values that need not be finite: one behind the mask cannot matter, not even NaN.

    Args:
        weights: `(B, H, T, S)`.
        values: `(B, G, S, K)`, `G` a divisor of `H`.
        mask: Joined mask `(B, H, T, S)`, its sizes 1 where it broadcasts, or None.
        terms: `OffsetTerms` of a position scheme.

    Returns:
        Sums `(B, H, T, K)`; NaN where a query may attend to a value that is not finite.
    """
    if mask is None:
        return pool(weights, values, terms)
    values, finite = keep_finite(values)
    sums = pool(weights, values, terms)
    spoilt = sees_any(mask, ops.logical_not(finite))
    return ops.where(spoilt, ops.cast(float("nan"), sums.dtype), sums)


def keep_finite(values):
    """Values `(B, G, S, K)` with zeros where one of a position is not finite, and where none is."""
    finite = ops.all(ops.isfinite(values), axis=(1, 3))  # (B, S)
    return ops.where(finite[:, None, :, None], values, ops.zeros_like(values)), finite


def sees_any(mask, marked):
    """Whether a query may attend to any marked key, `(B, H, T, 1)`.

    Args:
        mask: `(B, H, T, S)`, its sizes 1 where it broadcasts.
        marked: Boolean `(B, S)`.
    """
    return ops.any(ops.logical_and(mask, marked[:, None, None, :]), axis=-1, keepdims=True)
