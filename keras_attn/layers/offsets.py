"""Values for each offset from a query to a key, in place of each pair."""

from typing import Any, NamedTuple

from keras import ops


class OffsetTerms(NamedTuple):
    """Terms of a position scheme for each offset from a query to a key.

    There are `R = max(T, 1) + S - 1` offsets: row `r` is the key that stands `r - (T - 1) - start`
    positions behind the query, so that memory grows with `T + S` and not with `T * S`.

    Attributes:
        bias: `(H, R)`, added to the scores.
        keys: `(R, K)`, added to the key as this query sees it.
        values: `(R, K)`, added to the value as this query sees it.
    """

    bias: Any = None
    keys: Any = None
    values: Any = None


def offsets(num_queries: Any, num_keys: Any, start: Any = 0) -> Any:
    """The offsets of `OffsetTerms`, integers `(R,)`, `R = max(T, 1) + S - 1`."""
    num_rows = at_least_one(num_queries)
    first = 1 - num_rows - ops.cast(start, "int32")
    return ops.arange(num_rows + num_keys - 1, dtype="int32") + first


def by_pair(by_offset: Any) -> Any:
    """From a value for each query and offset, `(..., T, R)`, to one for each key, `(..., T, S)`.

    The skew of Huang et al. 2018, section 3.4: query `t` finds key `s` in column `s - t + T - 1`.
    With one column more, each row starts one later than the row before when the numbers are
    written without a break.
    """
    *lead, num_queries, num_offsets = ops.shape(by_offset)
    num_rows = at_least_one(num_queries)
    num_keys = num_offsets - num_rows + 1
    if _is_expression(num_queries, num_keys):
        t, s = ops.arange(num_queries)[:, None], ops.arange(num_keys)
        return _take(by_offset, s - t + num_queries - 1, (*lead, num_queries, num_keys))
    flat = ops.reshape(_pad_last(by_offset, 0, 1), (*lead, num_queries * (num_offsets + 1)))
    flat = flat[..., num_rows - 1 : num_rows - 1 + num_queries * num_offsets]
    return ops.reshape(flat, (*lead, num_queries, num_offsets))[..., :num_keys]


def by_offset(by_pair: Any) -> Any:
    """Back from `(..., T, S)` to `(..., T, R)`, zeros at offsets that a query does not meet."""
    *lead, num_queries, num_keys = ops.shape(by_pair)
    num_rows = at_least_one(num_queries)
    num_offsets = num_rows + num_keys - 1
    if _is_expression(num_queries, num_keys):
        t, r = ops.arange(num_queries)[:, None], ops.arange(num_offsets)
        s = r + t - num_queries + 1
        met = ops.logical_and(s >= 0, s < num_keys)
        s = ops.where(met, s, 0)
        return ops.where(met, _take(by_pair, s, (*lead, num_queries, num_offsets)), 0)
    padded = _pad_last(by_pair, 0, num_rows - 1)
    flat = ops.reshape(padded, (*lead, num_queries * num_offsets))
    flat = _pad_last(flat, num_rows - 1, num_queries - num_rows + 1)
    return ops.reshape(flat, (*lead, num_queries, num_offsets + 1))[..., :num_offsets]


def at_least_one(size: Any) -> Any:
    """`max(size, 1)`: a sequence without a query has as many offsets as one with one query."""
    if isinstance(size, int):
        return max(size, 1)
    # JAX's export assumes that unknown sizes are at least 1.
    return ops.maximum(size, 1) if ops.is_tensor(size) else size


def _is_expression(*sizes):
    """Whether a size is a symbolic expression of JAX's export, which cannot reshape for a skew."""
    return not all(isinstance(size, int) or ops.is_tensor(size) for size in sizes)


def _take(x, index, shape):
    """`x[..., t, index[t, :]]`; slower than the skew, especially the gradient."""
    return ops.take_along_axis(x, ops.broadcast_to(index, shape), axis=-1)


def _pad_last(x, before, after):
    return ops.pad(x, [(0, 0)] * (len(x.shape) - 1) + [(before, after)])
