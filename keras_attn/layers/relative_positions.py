"""Positions inside the scores: schemes for `MultiHeadAttention(position=...)`."""

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attn.layers.checks import (
    check_boolean,
    check_integers,
    check_positive_integer,
)
from keras_attn.layers.dense import TableLayer
from keras_attn.layers.layer import Layer
from keras_attn.layers.offsets import OffsetTerms, offsets


class RelativePosition(Layer):
    """Base class of position schemes inside the scores, for custom schemes.

    `MultiHeadAttention` makes a copy of its own, builds it with the shape of its heads, rotates
    queries and keys by it (`rotate`) and adds its terms to the scores (`terms`). This class does
    neither.

    Example:

    >>> from keras_attn import MultiHeadAttention
    >>> class NearerFirst(RelativePosition):
    ...     def terms(self, num_queries, num_keys, start=0):
    ...         distance = ops.abs(offsets(num_queries, num_keys, start))
    ...         return OffsetTerms(bias=-ops.cast(distance, "float32")[None])
    >>> x = ops.ones((1, 3, 8))
    >>> attention = MultiHeadAttention(8, 2, position=NearerFirst())
    >>> _, weights = attention(x, x, return_attention_scores=True)
    >>> bool(weights[0, 0, 0, 0] > weights[0, 0, 0, 2])
    True
    """

    def build(self, heads_shape: tuple, value_size: int | None = None) -> None:
        """Make the weights for heads `(B, T, H, K)`, whose values have `V` features."""

    def rotate(self, heads: Any, start: Any = 0, positions: Any = None) -> Any:
        """Rotate queries or keys by their positions.

        Args:
            heads: `(B, H, T, K)`.
            start: Position of the first row.
            positions: Integers `(B, T)` or `(T,)`; None means `start, start + 1, ...`.

        Returns:
            `(B, H, T, K)`.
        """
        return heads

    @property
    def takes_positions(self) -> bool:
        """Whether each row may have an explicit position: the scheme only rotates."""
        return False

    def terms(self, num_queries: Any, num_keys: Any, start: Any = 0) -> OffsetTerms:
        """Return the `OffsetTerms` of `T` queries, the first at position `start`, and `S` keys."""
        return OffsetTerms()


def check_scheme(position: Any) -> None:
    """Check that `position` is a scheme inside the scores, or None.

    Raises:
        ValueError: If it is something else.
    """
    if position is not None and not isinstance(position, RelativePosition):
        hint = " Make one: add brackets." if isinstance(position, type) else ""
        if "PositionalEncoding" in type(position).__name__:
            hint = " It is added to the input: call it on `x` before the attention."
        raise ValueError(
            "`position` must be a RelativePosition, such as RotaryEmbedding(), the name of one, "
            f'such as "rotary", or None. Received: position={position!r}.{hint}'
        )


def check_positions(
    positions: Any, scheme: RelativePosition | None, query: Any, key: Any, key_positions: Any = None
) -> None:
    """Check explicit positions of a call of `MultiHeadAttention`.

    Args:
        positions: Integers `(B, T)` or `(T,)`, or None.
        scheme: Position scheme of the layer, or None.
        query: `(B, T, D)`.
        key: `(B, S, D)`, or None with a cache that holds all keys.
        key_positions: Integers `(B, S)` or `(S,)`, or None.

    Raises:
        ValueError: If the scheme takes no positions, their shape is not `(B, T)` or `(T,)`, or the
            number of keys is not `T`.
    """
    if positions is not None:
        _check_rows("positions", positions, scheme, query)
    if key_positions is not None:
        _check_rows("key_positions", key_positions, scheme, key)
    if positions is None or key_positions is not None or key is None:
        return
    sizes = query.shape[1], key.shape[1]
    if all(isinstance(size, int) for size in sizes) and sizes[0] != sizes[1]:
        raise ValueError(
            "`positions` require as many keys as queries, since both are rotated, or "
            f"`key_positions`. Received: query.shape={tuple(query.shape)}, "
            f"key.shape={tuple(key.shape)}."
        )


def _check_rows(name, positions, scheme, x):
    """Check positions of the rows of `x`, which is None for keys of a cache."""
    if scheme is None or not scheme.takes_positions:
        raise ValueError(
            f"`{name}` require `position=RotaryEmbedding()`: other schemes use distances only. "
            f"Received: position={scheme!r}."
        )
    check_integers(name, positions)
    shape, expected = tuple(np.shape(positions)), tuple(x.shape[:2]) if x is not None else (None,)
    known = all(isinstance(size, int) for size in (*shape, *expected))
    if len(shape) not in (1, 2) or (known and shape not in (expected, expected[1:])):
        letters = "T" if name == "positions" else "S"
        raise ValueError(
            f"`{name}` must have shape (B, {letters}) or ({letters},), here "
            f"{expected} or {expected[1:]}. Received: {name}.shape={shape}."
        )


@keras.saving.register_keras_serializable(package="keras_attn")
class ShawRelativePosition(RelativePosition, TableLayer):
    """Learned vectors for the distance from query to key, added to keys and to values.

    `score(t, s) = q_t . (k_s + a_K[c]) / sqrt(K)` and `o_t = sum_s w_ts (v_s + a_V[c])`, with
    `c = clip(s - t, -m, m)` and one table for all heads (Shaw et al. 2018, section 3), in the
    memory of Huang et al. 2018, section 3.4: no tensor of shape `(T, S, K)`.

    Args:
        max_distance: `m`, positions beyond which all distances are one; a positive integer.
        embeddings_initializer: Initializer of both tables. Defaults to `"glorot_uniform"`.
        **settings: `embeddings_regularizer`, `embeddings_constraint`, and Keras's own arguments.

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
        **settings: Any,
    ) -> None:
        super().__init__(embeddings_initializer=embeddings_initializer, **settings)
        self.max_distance = check_positive_integer("max_distance", max_distance)

    def build(self, heads_shape: tuple, value_size: int | None = None) -> None:
        for name, size in (("keys", heads_shape[-1]), ("values", value_size or heads_shape[-1])):
            table = self._add_table((2 * self.max_distance + 1, size), name)
            setattr(self, f"_{name}", table)

    def terms(self, num_queries: Any, num_keys: Any, start: Any = 0) -> OffsetTerms:
        farthest = self.max_distance
        rows = ops.clip(offsets(num_queries, num_keys, start), -farthest, farthest) + farthest
        return OffsetTerms(
            keys=ops.take(self._keys, rows, axis=0), values=ops.take(self._values, rows, axis=0)
        )


@keras.saving.register_keras_serializable(package="keras_attn")
class T5RelativeBias(RelativePosition, TableLayer):
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
        **settings: `embeddings_regularizer`, `embeddings_constraint`, and Keras's own arguments.

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
        **settings: Any,
    ) -> None:
        super().__init__(embeddings_initializer=embeddings_initializer, **settings)
        self.num_buckets = check_positive_integer("num_buckets", num_buckets)
        self.max_distance = check_positive_integer("max_distance", max_distance)
        self.bidirectional = check_boolean("bidirectional", bidirectional)
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
        self._table = self._add_table((self.num_buckets, heads_shape[-2]), "bias")

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
