"""Attention with one head: a score for each query and key, and the pooling all scores share."""

import abc
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attn.layers.checks import (
    check_boolean,
    check_layout,
    check_positive_integer,
    check_rate,
)
from keras_attn.layers.dense import ProjectingLayer
from keras_attn.layers.layer import Layer
from keras_attn.layers.masks import Masks, hide
from keras_attn.layers.precision import matmul, score_dtype
from keras_attn.layers.products import match_batch, times_transposed
from keras_attn.layers.softmax import weigh


class ScoredAttention(Layer, abc.ABC):
    """Base class of attention with one head, for custom scores.

    A subclass computes the scores in `score`, and makes its weights in `build`. Masks, softmax,
    dropout of the weights, pooling of the values and the configuration are the same for all.

    Args:
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        **kwargs: `seed` of the dropout, and Keras's own arguments.

    Call arguments:
        query: `(B, T, Dq)`.
        key: `(B, S, Dk)`.
        value: `(B, S, Dv)`; None means `key`.
        valid_lens: Integers `(B,)` or `(B, T)`: number of valid keys; later keys are masked.
        attention_mask: Boolean, broadcastable to `(B, T, S)`.
        use_causal_mask: Whether query `t` attends to keys up to `t` only.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.
        attention_bias: Floats added to the scores, broadcastable to `(B, T, S)`.
        query_mask, key_mask, value_mask: Boolean `(B, T)`, `(B, S)`, `(B, S)`; Keras fills them.

    Returns:
        Output `(B, T, Dv)`, or output and weights `(B, T, S)`.

    Raises:
        ValueError: If `dropout` is not in `[0, 1)`, or shapes do not fit together.

    Example:

    >>> class ManhattanAttention(ScoredAttention):
    ...     def score(self, query, key):
    ...         return -ops.sum(ops.abs(query[:, :, None] - key[:, None]), axis=-1)
    >>> places, values = ops.array([[[0.0], [100.0]]]), ops.array([[[1.0], [2.0]]])
    >>> ops.convert_to_numpy(ManhattanAttention()(ops.array([[[3.0]]]), places, values)).tolist()
    [[[1.0]]]
    """

    def __init__(self, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dropout = check_rate("dropout", dropout)
        self.supports_masking = True
        self._dropout = self._make_dropout(self.dropout)

    def build(self, query_shape: tuple, key_shape: tuple, value_shape: tuple | None = None) -> None:
        self._dropout.build((None, None, None))

    @abc.abstractmethod
    def score(self, query: Any, key: Any) -> Any:
        """Return scores `(B, T, S)`, in any float type.

        Args:
            query: Queries `(B, T, Dq)`.
            key: Keys `(B, S, Dk)`.
        """

    def weigh(self, query: Any, key: Any, mask: Any, bias: Any = 0.0) -> Any:
        """Return attention weights `(B, T, S)`, in any float type.

        Args:
            query: Queries `(B, T, Dq)`.
            key: Keys `(B, S, Dk)`.
            mask: Boolean that broadcasts to `(B, T, S)`, or None.
            bias: Floats added to the scores, that broadcast to `(B, T, S)`. Defaults to 0.
        """
        return weigh(self.score(query, key) + bias, mask)

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
        attention_bias: Any = None,
        query_mask: Any = None,
        key_mask: Any = None,
        value_mask: Any = None,
    ) -> Any:
        value = key if value is None else value
        query, key, value = map(self._to_float, (query, key, value))
        masks = Masks(valid_lens, attention_mask, use_causal_mask, query_mask, key_mask, value_mask)
        masks = masks.of_call(query, key, value, attention_bias)
        pairs = {"attention_mask": attention_mask, "attention_bias": attention_bias}
        for name, given in pairs.items():
            if given is not None and len(np.shape(given)) == 4:
                raise ValueError(
                    f"`{name}` must broadcast to (B, T, S) for a layer with one head. "
                    f"Received: {name}.shape={tuple(np.shape(given))}."
                )
        padding = masks.padding()
        query, key, value = hide(query, query_mask), hide(key, padding), hide(value, padding)
        key, value = match_batch(key, query), match_batch(value, query)
        mask = masks.join()
        mask = None if mask is None else ops.squeeze(mask, 1)
        bias = 0.0
        if attention_bias is not None:
            bias = ops.cast(attention_bias, score_dtype(query.dtype))
        weights = ops.cast(self.weigh(query, key, mask, bias), query.dtype)
        output = matmul(self._dropout(weights, training=training), value)
        return (output, weights) if return_attention_scores else output

    def compute_output_shape(
        self, query_shape: tuple, key_shape: tuple, value_shape: tuple | None = None
    ) -> tuple:
        return (*query_shape[:-1], (value_shape or key_shape)[-1])

    def compute_mask(self, query: Any, previous_mask: Any = None) -> Any:
        return previous_mask


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

    Masking: True = attend; given masks are combined with AND. A fully masked query gets
    weights 0 and output 0.

    Args:
        num_hiddens: Width of the network, a positive integer.
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        **settings: `seed` of the dropout, and settings of the kernels, as in `keras.layers.Dense`:
            `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`.

    Call arguments and results: as in `ScoredAttention`.

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
        super().build(query_shape, key_shape, value_shape)

    def score(self, query: Any, key: Any) -> Any:
        queries = self._query_dense(query)[:, :, None]  # (B, T, 1, N)
        keys = self._key_dense(key)[:, None]  # (B, 1, S, N)
        return ops.squeeze(self._score_dense(ops.tanh(queries + keys)), -1)  # (B, T, S)


@keras.saving.register_keras_serializable(package="keras_attn")
class BilinearAttention(ScoredAttention, ProjectingLayer):
    """Attention whose scores come from one learned matrix, for queries and keys of any sizes.

    `score(q, k) = q^T W k` with `W` of shape `(Dq, Dk)` (Luong et al. 2015, section 3.1,
    "general"), by matrix products only. Weights are the masked softmax of the scores.

    Masking: True = attend; given masks are combined with AND. A fully masked query gets
    weights 0 and output 0.

    Args:
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        **settings: `seed` of the dropout, and settings of the kernels, as in `keras.layers.Dense`:
            `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`.

    Call arguments and results: as in `ScoredAttention`.

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
        super().build(query_shape, key_shape, value_shape)

    def score(self, query: Any, key: Any) -> Any:
        return dot_products(self._query_dense(query), key)


@keras.saving.register_keras_serializable(package="keras_attn")
class DotProductAttention(ScoredAttention):
    """Attention whose scores are dot products, for queries and keys of one size.

    `score(q, k) = q . k / sqrt(D)` (Vaswani et al. 2017, section 3.2.1); without `scale`, `q . k`
    (Luong et al. 2015, section 3.1). Weights are the masked softmax of the scores.

    Masking: True = attend; given masks are combined with AND. A fully masked query gets
    weights 0 and output 0.

    Args:
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        scale: Whether scores are divided by `sqrt(D)`. Defaults to True.
        **kwargs: `seed` of the dropout, and Keras's own arguments.

    Call arguments and results: as in `ScoredAttention`.

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
        super().build(query_shape, key_shape, value_shape)

    def score(self, query: Any, key: Any) -> Any:
        if self.scale:
            query = query * query.shape[-1] ** -0.5
        return dot_products(query, key)
