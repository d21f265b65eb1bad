"""Positions inside the scores: schemes for `MultiHeadAttention(position=...)`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import constraints, initializers, ops, regularizers

from keras_attn.checks import (
    check_boolean,
    check_choice,
    check_positive_integer,
    check_positive_number,
)
from keras_attn.layer import Layer
from keras_attn.projection import copy_initializer


class OffsetTerms(NamedTuple):
    """What a scheme adds for each offset from a query to a key.

    There are `R = T + S - 1` offsets: row `r` is the key that stands `r - (T - 1) - start`
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
    # JAX's export takes sizes without a number for 1 at least.
    return ops.maximum(size, 1) if ops.is_tensor(size) else size


def _is_expression(*sizes):
    """Whether sizes are those of JAX's export: it cannot compare what a skew cuts and joins."""
    return not all(isinstance(size, int) or ops.is_tensor(size) for size in sizes)


def _take(x, index, shape):
    """`x[..., t, index[t, :]]`: slower than the skew, most of all in its gradient."""
    return ops.take_along_axis(x, ops.broadcast_to(index, shape), axis=-1)


def _pad_last(x, before, after):
    return ops.pad(x, [(0, 0)] * (len(x.shape) - 1) + [(before, after)])


class RelativePosition(Layer):
    """A position scheme that adds nothing; a subclass overrides what it changes.

    `MultiHeadAttention` makes a copy of its own, builds it with the shape of its heads, rotates
    queries and keys by it and adds its terms to the scores.
    """

    def build(self, heads_shape: tuple, value_size: int | None = None) -> None:
        """Make the weights for heads `(B, T, H, K)`, whose values have `V` features."""

    def rotate(self, heads: Any, start: Any = 0, positions: Any = None) -> Any:
        """Rotate queries or keys by their positions.

        Args:
            heads: `(B, T, H, K)`.
            start: Position of the first row.
            positions: Integers `(B, T)` or `(T,)`; None means `start, start + 1, ...`.

        Returns:
            `(B, T, H, K)`.
        """
        return heads

    @property
    def takes_positions(self) -> bool:
        """Whether `rotate` is all there is, so that each row may have a position of its own."""
        return False

    def terms(self, num_queries: Any, num_keys: Any, start: Any = 0) -> OffsetTerms:
        """Return the `OffsetTerms` of `T` queries, the first at position `start`, and `S` keys."""
        return OffsetTerms()


@keras.saving.register_keras_serializable(package="keras_attn")
class ShawRelativePosition(RelativePosition):
    """Learned vectors for the distance from query to key, added to keys and to values.

    `score(t, s) = q_t . (k_s + a_K[c]) / sqrt(K)` and `o_t = sum_s w_ts (v_s + a_V[c])`, with
    `c = clip(s - t, -m, m)` and one table for all heads (Shaw et al. 2018, section 3), in the
    memory of Huang et al. 2018, section 3.4: no tensor of shape `(T, S, K)`.

    Args:
        max_distance: `m`, positions beyond which all distances are one; a positive integer.
        embeddings_initializer: Initializer of both tables. Defaults to `"glorot_uniform"`.
        embeddings_regularizer: Regularizer of both tables. Defaults to None.
        embeddings_constraint: Constraint of both tables. Defaults to None.

    Raises:
        ValueError: If `max_distance` is not a positive integer.

    Example:

    >>> from keras_attn import MultiHeadAttention
    >>> attention = MultiHeadAttention(8, 2, position=ShawRelativePosition(max_distance=16))
    >>> x = ops.ones((1, 5, 8))
    >>> tuple(attention(x, x).shape)
    (1, 5, 8)
    """

    def __init__(
        self,
        max_distance: int,
        embeddings_initializer: Any = "glorot_uniform",
        embeddings_regularizer: Any = None,
        embeddings_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.max_distance = check_positive_integer("max_distance", max_distance)
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)

    def build(self, heads_shape: tuple, value_size: int | None = None) -> None:
        for name, size in (("keys", heads_shape[-1]), ("values", value_size or heads_shape[-1])):
            table = self.add_weight(
                shape=(2 * self.max_distance + 1, size),
                initializer=copy_initializer(self.embeddings_initializer),
                regularizer=self.embeddings_regularizer,
                constraint=self.embeddings_constraint,
                name=name,
            )
            setattr(self, f"_{name}", table)

    def terms(self, num_queries: Any, num_keys: Any, start: Any = 0) -> OffsetTerms:
        farthest = self.max_distance
        rows = ops.clip(offsets(num_queries, num_keys, start), -farthest, farthest) + farthest
        return OffsetTerms(
            keys=ops.take(self._keys, rows, axis=0), values=ops.take(self._values, rows, axis=0)
        )

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "max_distance": self.max_distance,
            "embeddings_initializer": initializers.serialize(self.embeddings_initializer),
            "embeddings_regularizer": regularizers.serialize(self.embeddings_regularizer),
            "embeddings_constraint": constraints.serialize(self.embeddings_constraint),
        }


@keras.saving.register_keras_serializable(package="keras_attn")
class T5RelativeBias(RelativePosition):
    """A learned number for each head and range of distances, added to the score.

    `score(t, s) = q_t . k_s / sqrt(K) + b[h, bucket(s - t)]`: near distances have a bucket each,
    farther ones share buckets that widen logarithmically up to `max_distance` (Raffel et al. 2020,
    section 2.1; T5 itself does without `1 / sqrt(K)`). Half of the buckets are for keys behind the
    query, half for keys ahead; with `bidirectional=False` all are for keys behind.

    Args:
        num_buckets: Number of buckets, even and at least 4. Defaults to 32.
        max_distance: Distance from which on all keys share the last bucket. Defaults to 128.
        bidirectional: Whether keys ahead of the query have buckets of their own; a causal model
            needs none. Defaults to True.
        embeddings_initializer: Initializer of the biases. Defaults to `"zeros"`.
        embeddings_regularizer: Regularizer of the biases. Defaults to None.
        embeddings_constraint: Constraint of the biases. Defaults to None.

    Raises:
        ValueError: If `num_buckets` is not an even integer of at least 4, or `max_distance` does
            not lie beyond the distances that have a bucket each.

    Example:

    >>> from keras_attn import MultiHeadAttention
    >>> attention = MultiHeadAttention(8, 2, position=T5RelativeBias())
    >>> x = ops.ones((1, 5, 8))
    >>> tuple(attention(x, x).shape)
    (1, 5, 8)
    """

    def __init__(
        self,
        num_buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = True,
        embeddings_initializer: Any = "zeros",
        embeddings_regularizer: Any = None,
        embeddings_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.num_buckets = check_positive_integer("num_buckets", num_buckets)
        self.max_distance = check_positive_integer("max_distance", max_distance)
        self.bidirectional = check_boolean("bidirectional", bidirectional)
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        if num_buckets < 4 or num_buckets % 2:
            raise ValueError(
                "`num_buckets` must be an even integer of at least 4. "
                f"Received: num_buckets={num_buckets}."
            )
        if max_distance <= self._num_exact:
            raise ValueError(
                f"`max_distance` must be above {self._num_exact}, the distances that have a "
                f"bucket each. Received: max_distance={max_distance}, num_buckets={num_buckets}."
            )

    @property
    def _num_a_side(self):
        return self.num_buckets // 2 if self.bidirectional else self.num_buckets

    @property
    def _num_exact(self):
        return self._num_a_side // 2

    def build(self, heads_shape: tuple, value_size: int | None = None) -> None:
        self._table = self.add_weight(
            shape=(self.num_buckets, heads_shape[-2]),
            initializer=copy_initializer(self.embeddings_initializer),
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
            name="bias",
        )

    def bucket(self, offset: Any) -> Any:
        """Return the bucket of each offset `s - t`, integers."""
        is_ahead = offset > 0
        distance = ops.abs(offset) if self.bidirectional else ops.maximum(-offset, 0)
        # The widths of the wide buckets are found once, in float64: float32 logarithms put
        # distances at the edges into the wrong one.
        exact, side = self._num_exact, self._num_a_side
        growth = math.log(self.max_distance / exact) / (side - exact)
        edges = exact * np.exp(growth * np.arange(1, side - exact)) - 1e-9
        first_of_bucket = ops.convert_to_tensor(np.ceil(edges), "int32")
        wide = exact + ops.sum(ops.cast(distance[..., None] >= first_of_bucket, "int32"), axis=-1)
        bucket = ops.where(distance < exact, distance, wide)
        return bucket + ops.cast(is_ahead, "int32") * side if self.bidirectional else bucket

    def terms(self, num_queries: Any, num_keys: Any, start: Any = 0) -> OffsetTerms:
        buckets = self.bucket(offsets(num_queries, num_keys, start))  # (R,)
        return OffsetTerms(bias=ops.transpose(ops.take(self._table, buckets, axis=0)))

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_buckets": self.num_buckets,
            "max_distance": self.max_distance,
            "bidirectional": self.bidirectional,
            "embeddings_initializer": initializers.serialize(self.embeddings_initializer),
            "embeddings_regularizer": regularizers.serialize(self.embeddings_regularizer),
            "embeddings_constraint": constraints.serialize(self.embeddings_constraint),
        }


@keras.saving.register_keras_serializable(package="keras_attn")
class AlibiBias(RelativePosition):
    """A penalty on distance, a different one for each head; nothing is learned.

    `score(t, s) = q_t . k_s / sqrt(K) - m_h |t - s|`, `m_h = 2^(-8h/H)` for `h = 1..H` where `H`
    is a power of two; else the slopes of the power below, then every other slope of the power
    above (Press et al. 2022, section 3). Without a causal mask, keys ahead are penalised alike.

    Example:

    >>> from keras_attn import MultiHeadAttention
    >>> attention = MultiHeadAttention(8, 2, position=AlibiBias())
    >>> x = ops.ones((1, 5, 8))
    >>> tuple(attention(x, x, use_causal_mask=True).shape)
    (1, 5, 8)
    """

    def build(self, heads_shape: tuple, value_size: int | None = None) -> None:
        self._slopes = alibi_slopes(heads_shape[-2])

    def terms(self, num_queries: Any, num_keys: Any, start: Any = 0) -> OffsetTerms:
        distances = ops.cast(ops.abs(offsets(num_queries, num_keys, start)), "float32")  # (R,)
        slopes = ops.convert_to_tensor(self._slopes, "float32")
        return OffsetTerms(bias=-slopes[:, None] * distances)


def alibi_slopes(num_heads: int) -> np.ndarray:
    """Return the slopes of `AlibiBias`, float64 `(H,)`."""
    below = 2 ** int(math.log2(num_heads))
    slopes = 2.0 ** (-8.0 * np.arange(1, below + 1) / below)
    between = 2.0 ** (-4.0 * np.arange(1, 2 * below + 1, 2) / below)
    return np.concatenate([slopes, between[: num_heads - below]])


@keras.saving.register_keras_serializable(package="keras_attn")
class RotaryEmbedding(RelativePosition):
    """Rotates queries and keys by angles that grow with their position.

    The pair `(x[2j], x[2j+1])` at position `t` is rotated by `t * r_j`, `r_j = base^(-2j/K)`, so
    that `q_t . k_s` depends on `s - t` alone (Su et al. 2021, section 3.2). The last feature of an
    odd `K` is left as it is.

    With `layout="half"` the pairs are `(x[j], x[j + K/2])`, as in the weights of Llama and Qwen.

    Scaling reaches lengths that a model was not trained for. `"linear"` divides all rates by
    `factor` (Chen et al. 2023, section 2.3). `"yarn"` divides the slow ones alone, those that turn
    less than `beta_slow` times within `original_max_len`, keeps those that turn more than
    `beta_fast` times, and blends in between; scores grow by `(0.1 ln(factor) + 1)^2` (Peng et al.
    2023, sections 3.2 and 3.4).

    Args:
        base: Number whose powers are the rates of the angles, above 1. Defaults to 10000.
        layout: `"interleaved"` or `"half"`. Defaults to `"interleaved"`.
        scaling: None, `"linear"` or `"yarn"`. Defaults to None.
        factor: How many times longer inputs may be than in training, above 0. Defaults to 1.
        original_max_len: Longest input of the training, for `"yarn"`. Defaults to None.
        beta_fast: Turns from which on rates are kept by `"yarn"`. Defaults to 32.
        beta_slow: Turns up to which rates are divided by `"yarn"`. Defaults to 1.

    Raises:
        ValueError: If `base` is not above 1, `layout` or `scaling` is unknown, or
            `original_max_len` is missing.

    Example:

    >>> from keras_attn import MultiHeadAttention
    >>> attention = MultiHeadAttention(8, 2, position=RotaryEmbedding())
    >>> x = ops.ones((1, 5, 8))
    >>> tuple(attention(x, x).shape)
    (1, 5, 8)
    """

    def __init__(
        self,
        base: float = 10000,
        layout: str = "interleaved",
        scaling: str | None = None,
        factor: float = 1.0,
        original_max_len: int | None = None,
        beta_fast: float = 32.0,
        beta_slow: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive_number("base", base)
        if base <= 1:
            raise ValueError(f"`base` must be a number above 1. Received: base={base!r}.")
        check_choice("layout", layout, ("interleaved", "half"))
        check_choice("scaling", scaling, (None, "linear", "yarn"))
        if scaling == "yarn" or original_max_len is not None:
            original_max_len = check_positive_integer("original_max_len", original_max_len)
        self.base = float(base)
        self.layout = layout
        self.scaling = scaling
        self.factor = check_positive_number("factor", factor)
        self.original_max_len = original_max_len
        self.beta_fast = check_positive_number("beta_fast", beta_fast)
        self.beta_slow = check_positive_number("beta_slow", beta_slow)

    @property
    def takes_positions(self) -> bool:
        return True

    def rates(self, size: int) -> np.ndarray:
        """Return the angle by which each pair of `K = size` features turns a position, float64."""
        num_pairs = size // 2
        rates = self.base ** (-2.0 * np.arange(num_pairs) / size)
        if self.scaling is None:
            return rates
        if self.scaling == "linear":
            return rates / self.factor

        def pair_with_turns(turns: float) -> float:
            length = self.original_max_len / (2 * math.pi * turns)
            return size * math.log(length) / (2 * math.log(self.base))

        first = max(math.floor(pair_with_turns(self.beta_fast)), 0)
        last = min(math.ceil(pair_with_turns(self.beta_slow)), size - 1)
        slow = np.clip((np.arange(num_pairs) - first) / max(last - first, 0.001), 0, 1)
        return rates / self.factor * slow + rates * (1 - slow)

    def rotate(self, heads: Any, start: Any = 0, positions: Any = None) -> Any:
        size = heads.shape[-1]
        num_pairs = size // 2
        if positions is None:
            positions = ops.arange(ops.shape(heads)[1], dtype="int32") + ops.cast(start, "int32")
        rates = ops.convert_to_tensor(self.rates(size), "float32")
        angles = ops.cast(positions, "float32")[..., None, None] * rates  # (B or none, T, 1, K/2)
        stretch = 1.0
        if self.scaling == "yarn" and self.factor > 1:
            stretch = 0.1 * math.log(self.factor) + 1.0
        # Angles in float32: bfloat16 holds no odd number above 256.
        cos = ops.cast(ops.cos(angles) * stretch, heads.dtype)
        sin = ops.cast(ops.sin(angles) * stretch, heads.dtype)
        if self.layout == "half":
            left, right = heads[..., :num_pairs], heads[..., num_pairs : 2 * num_pairs]
        else:
            left, right = heads[..., 0 : 2 * num_pairs : 2], heads[..., 1 : 2 * num_pairs : 2]
        turned = [left * cos - right * sin, left * sin + right * cos]
        if self.layout == "half":
            turned = ops.concatenate(turned, axis=-1)
        else:
            shape = (*ops.shape(heads)[:-1], 2 * num_pairs)
            turned = ops.reshape(ops.stack(turned, axis=-1), shape)
        return turned if size % 2 == 0 else ops.concatenate([turned, heads[..., -1:]], axis=-1)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "base": self.base,
            "layout": self.layout,
            "scaling": self.scaling,
            "factor": self.factor,
            "original_max_len": self.original_max_len,
            "beta_fast": self.beta_fast,
            "beta_slow": self.beta_slow,
        }
