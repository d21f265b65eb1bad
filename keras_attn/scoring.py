"""Attention with one head: a score for each query and key, and the pooling all scores share."""

from __future__ import annotations

import abc
from typing import Any

import keras
from keras import ops

from keras_attn.checks import (
    check_boolean,
    check_layout,
    check_positive_integer,
    check_rate,
)
from keras_attn.heads import match_batch, pool_seen, score_dtype, times_transposed
from keras_attn.layer import Layer
from keras_attn.masks import check_shapes, hide, join_masks, seen, with_heads
from keras_attn.projection import ProjectingLayer
from keras_attn.relative import OffsetTerms
from keras_attn.softmax import masked_softmax


class ScoredAttention(Layer, abc.ABC):
    """The attention call for layers with one head, which differ in their scores alone.

    A subclass computes the scores (`score`). Masks, softmax, dropout of the weights and pooling of
    the values are the same for all.

    Args:
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        **kwargs: `seed` of the dropout, and Keras's own arguments.
    """

    def __init__(self, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dropout = check_rate("dropout", dropout)
        self.supports_masking = True
        self._dropout = self._make_dropout(self.dropout)

    @abc.abstractmethod
    def score(self, query: Any, key: Any) -> Any:
        """Return scores `(B, T, S)`, in any float type.

        Args:
            query: Queries `(B, T, Dq)`.
            key: Keys `(B, S, Dk)`.
        """

    def weigh(self, query: Any, key: Any, mask: Any) -> Any:
        """Return attention weights `(B, T, S)`, in any float type.

        Args:
            query: Queries `(B, T, Dq)`.
            key: Keys `(B, S, Dk)`.
            mask: Boolean that broadcasts to `(B, T, S)`, or None.
        """
        return masked_softmax(self.score(query, key), mask=mask)

    def call(
        self,
        query: Any,
        key: Any,
        value: Any = None,
        valid_lens: Any = None,
        attention_mask: Any = None,
        use_causal_mask: bool = False,
        return_attention_scores: bool = False,
        training: bool | None = None,
        query_mask: Any = None,
        key_mask: Any = None,
        value_mask: Any = None,
    ) -> Any:
        value = key if value is None else value
        query, key, value = map(self._to_float, (query, key, value))
        check_shapes(
            key.shape[1] if len(key.shape) > 1 else None,
            query=query,
            key=key,
            value=value,
            valid_lens=valid_lens,
            attention_mask=attention_mask,
            query_mask=query_mask,
            key_mask=key_mask,
            value_mask=value_mask,
        )
        mask = join_masks(
            ops.shape(query)[1],
            ops.shape(key)[1],
            valid_lens,
            attention_mask,
            use_causal_mask,
            query_mask,
            key_mask,
            value_mask,
        )
        if mask is not None and len(mask.shape) == 4:
            raise ValueError(
                "`attention_mask` must broadcast to (B, T, S) for a layer with one head. "
                f"Received: attention_mask.shape={tuple(attention_mask.shape)}."
            )
        seen_queries, seen_keys = (None, None) if mask is None else seen(mask)
        query, key, value = hide(query, seen_queries), hide(key, seen_keys), hide(value, seen_keys)
        key, value = match_batch(key, query), match_batch(value, query)
        weights = ops.cast(self.weigh(query, key, mask), query.dtype)
        dropped = self._dropout(weights, training=training)
        one_head = with_heads(mask)
        output = pool_seen(dropped[:, None], value[:, None], one_head, OffsetTerms())[:, 0]
        return (output, weights) if return_attention_scores else output

    def compute_output_shape(
        self, query_shape: tuple, key_shape: tuple, value_shape: tuple | None = None
    ) -> tuple:
        return (*query_shape[:-1], (value_shape or key_shape)[-1])

    def compute_mask(self, query: Any, previous_mask: Any = None) -> Any:
        return previous_mask

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "dropout": self.dropout}


def check_same_size(query_shape: tuple, key_shape: tuple) -> None:
    """Check that queries and keys have one size, which some scores need.

    Raises:
        ValueError: If the sizes differ, or the number of axes is not three.
    """
    check_layout("query", query_shape, "BTD")
    check_layout("key", key_shape, "BSD")
    if query_shape[-1] != key_shape[-1]:
        raise ValueError(
            "`query` and `key` must have the same last dimension. Received: "
            f"query.shape={tuple(query_shape)}, key.shape={tuple(key_shape)}. "
            "AdditiveAttention and BilinearAttention take different ones."
        )


def dot_products(query: Any, key: Any) -> Any:
    """Return `q . k` for each query and key, `(B, T, S)`; float16 would end at 65504.

    Args:
        query: `(B, T, D)`.
        key: `(B, S, D)`.
    """
    dtype = score_dtype(query.dtype)
    return times_transposed(ops.cast(query, dtype), ops.cast(key, dtype))


@keras.saving.register_keras_serializable(package="keras_attn")
class AdditiveAttention(ScoredAttention, ProjectingLayer):
    """Attention whose scores come from a small network, for queries and keys of any sizes.

    `score(q, k) = w_v . tanh(W_q q + W_k k)` (Bahdanau et al. 2015, appendix A.1.2), without
    biases. Weights are the masked softmax of the scores.

    Masking: True = may attend; all masks given hold at once. A query without any key left gets
    weights 0 and output 0.

    Args:
        num_hiddens: Width of the network, a positive integer.
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        **settings: `seed` of the dropout, and settings of the kernels, as in `keras.layers.Dense`:
            `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`.

    Call arguments:
        query: `(B, T, Dq)`.
        key: `(B, S, Dk)`.
        value: `(B, S, Dv)`; None means `key`.
        valid_lens: Integers `(B,)` or `(B, T)`: keys from the first that may be attended.
        attention_mask: Boolean, broadcastable to `(B, T, S)`.
        use_causal_mask: Whether query `t` attends to keys up to `t` only.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.
        query_mask, key_mask, value_mask: Boolean `(B, T)`, `(B, S)`, `(B, S)`; Keras fills them.

    Returns:
        Output `(B, T, Dv)`, or output and weights `(B, T, S)`.

    Raises:
        ValueError: If `num_hiddens` is not a positive integer, or shapes do not fit together.

    Example:

    >>> attention = AdditiveAttention(num_hiddens=8)
    >>> output = attention(ops.ones((2, 3, 5)), ops.ones((2, 7, 4)), valid_lens=[7, 2])
    >>> tuple(output.shape)
    (2, 3, 4)
    """

    def __init__(self, num_hiddens: int, dropout: float = 0.0, **settings: Any) -> None:
        super().__init__(dropout, **settings)
        self.num_hiddens = check_positive_integer("num_hiddens", num_hiddens)
        self._query_dense = self._make_projection(self.num_hiddens, "query", use_bias=False)
        self._key_dense = self._make_projection(self.num_hiddens, "key", use_bias=False)
        self._score_dense = self._make_projection(1, "score", use_bias=False)

    def build(self, query_shape: tuple, key_shape: tuple, value_shape: tuple | None = None) -> None:
        self._query_dense.build(query_shape)
        self._key_dense.build(key_shape)
        self._score_dense.build((None, None, None, self.num_hiddens))
        self._dropout.build((None, None, None))

    def score(self, query: Any, key: Any) -> Any:
        queries = self._query_dense(query)[:, :, None]  # (B, T, 1, N)
        keys = self._key_dense(key)[:, None]  # (B, 1, S, N)
        return ops.squeeze(self._score_dense(ops.tanh(queries + keys)), -1)  # (B, T, S)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "num_hiddens": self.num_hiddens}


@keras.saving.register_keras_serializable(package="keras_attn")
class BilinearAttention(ScoredAttention, ProjectingLayer):
    """Attention whose scores come from one learned matrix, for queries and keys of any sizes.

    `score(q, k) = q^T W k` with `W` of shape `(Dq, Dk)` (Luong et al. 2015, section 3.1,
    "general"), by matrix products only. Weights are the masked softmax of the scores.

    Masking: True = may attend; all masks given hold at once. A query without any key left gets
    weights 0 and output 0.

    Args:
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        **settings: `seed` of the dropout, and settings of the kernels, as in `keras.layers.Dense`:
            `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`.

    Call arguments:
        query: `(B, T, Dq)`.
        key: `(B, S, Dk)`.
        value: `(B, S, Dv)`; None means `key`.
        valid_lens: Integers `(B,)` or `(B, T)`: keys from the first that may be attended.
        attention_mask: Boolean, broadcastable to `(B, T, S)`.
        use_causal_mask: Whether query `t` attends to keys up to `t` only.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.
        query_mask, key_mask, value_mask: Boolean `(B, T)`, `(B, S)`, `(B, S)`; Keras fills them.

    Returns:
        Output `(B, T, Dv)`, or output and weights `(B, T, S)`.

    Raises:
        ValueError: If shapes do not fit together.

    Example:

    >>> output = BilinearAttention()(ops.ones((2, 3, 5)), ops.ones((2, 7, 4)), valid_lens=[7, 2])
    >>> tuple(output.shape)
    (2, 3, 4)
    """

    def build(self, query_shape: tuple, key_shape: tuple, value_shape: tuple | None = None) -> None:
        self._query_dense = self._make_projection(key_shape[-1], "query", use_bias=False)
        self._query_dense.build(query_shape)
        self._dropout.build((None, None, None))

    def score(self, query: Any, key: Any) -> Any:
        return dot_products(self._query_dense(query), key)


@keras.saving.register_keras_serializable(package="keras_attn")
class DotProductAttention(ScoredAttention):
    """Attention whose scores are dot products, for queries and keys of one size.

    `score(q, k) = q . k / sqrt(D)` (Vaswani et al. 2017, section 3.2.1); without `scale`, `q . k`
    (Luong et al. 2015, section 3.1). Weights are the masked softmax of the scores.

    Masking: True = may attend; all masks given hold at once. A query without any key left gets
    weights 0 and output 0.

    Args:
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        scale: Whether scores are divided by `sqrt(D)`. Defaults to True.
        **kwargs: `seed` of the dropout, and Keras's own arguments.

    Call arguments:
        query: `(B, T, D)`.
        key: `(B, S, D)`.
        value: `(B, S, Dv)`; None means `key`.
        valid_lens: Integers `(B,)` or `(B, T)`: keys from the first that may be attended.
        attention_mask: Boolean, broadcastable to `(B, T, S)`.
        use_causal_mask: Whether query `t` attends to keys up to `t` only.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.
        query_mask, key_mask, value_mask: Boolean `(B, T)`, `(B, S)`, `(B, S)`; Keras fills them.

    Returns:
        Output `(B, T, Dv)`, or output and weights `(B, T, S)`.

    Raises:
        ValueError: If queries and keys differ in size.

    Example:

    >>> attention = DotProductAttention()
    >>> query, key = ops.ones((2, 3, 5)), ops.ones((2, 4, 5))
    >>> output, weights = attention(query, key, valid_lens=[4, 2], return_attention_scores=True)
    >>> ops.convert_to_numpy(weights)[1, 0].tolist()
    [0.5, 0.5, 0.0, 0.0]
    """

    def __init__(self, dropout: float = 0.0, scale: bool = True, **kwargs: Any) -> None:
        super().__init__(dropout, **kwargs)
        self.scale = check_boolean("scale", scale)

    def build(self, query_shape: tuple, key_shape: tuple, value_shape: tuple | None = None) -> None:
        check_same_size(query_shape, key_shape)
        self._dropout.build((None, None, None))

    def score(self, query: Any, key: Any) -> Any:
        if self.scale:
            query = query * query.shape[-1] ** -0.5
        return dot_products(query, key)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "scale": self.scale}
