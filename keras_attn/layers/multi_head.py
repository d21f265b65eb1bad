"""Attention with several heads, over one sequence or two, with or without a cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attn.layers.attend import attend
from keras_attn.layers.cache import check_cache, check_room, empty_cache, write_cache
from keras_attn.layers.checks import (
    check_boolean,
    check_choice,
    check_multiple,
    check_positive_integer,
    check_positive_number,
    check_rate,
    check_start,
    optional,
)
from keras_attn.layers.dense import ProjectingLayer, Projection, kept_sizes, project_heads
from keras_attn.layers.dot_product import Inputs, Rules
from keras_attn.layers.from_keras import attention_like_keras, copy_from_keras, warn_of_order
from keras_attn.layers.lora import Adaptable
from keras_attn.layers.masks import Masks, hide, with_four_axes
from keras_attn.layers.normalization import EPSILON, Normalization
from keras_attn.layers.offsets import OffsetTerms
from keras_attn.layers.positions import own_position
from keras_attn.layers.products import match_batch
from keras_attn.layers.relative_positions import RelativePosition, check_positions, check_scheme


@keras.saving.register_keras_serializable(package="keras_attn")
class MultiHeadAttention(ProjectingLayer, Adaptable):
    """Multi-head scaled dot-product attention.

    The call order is `(query, key, value)`; that of `keras.layers.MultiHeadAttention` is
    `(query, value, key)`. Pass key and value of different sizes by name: by order they cause a
    warning.

    `head_h = softmax(Q_h K_h^T / sqrt(K)) V_h` with `Q_h = q W_h^Q` and so on; the heads are
    concatenated and projected by `W^O` (Vaswani et al. 2017, section 3.2.2). `K = D / H`. With
    `num_kv_heads` below `num_heads`, groups of heads share keys and values (Ainslie et al. 2023);
    with 1, all do (Shazeer 2019).

    Long sequences are computed block by block, in memory that grows with `T + S`; all weights are
    computed at once with `return_attention_scores`. The output is the same.

    Masking: True = attend; given masks are combined with AND. A fully masked query gets
    weights 0 and, before `W^O`, output 0.

    A cache holds projected keys and values for decoding step by step: `{"key": (B, G, L, K),
    "value": (B, G, L, V), "mask": (B, L)}`, with `G` key-value heads; True in the mask = attend.

    - With a cache and a `key`, the layer writes the new keys, values and mask at `start`. Queries
      then attend to the whole cache, so use the causal mask. `valid_lens` and `attention_mask`
      cover all `L` positions.
    - With a cache and `key=None`, the cache is a memory that `project_memory` returned.

    `from_keras(layer)` takes options and weights from a `keras.layers.MultiHeadAttention`.

    Args:
        num_hiddens: Width `D` of the output by default; a multiple of `H` without `head_size`.
        num_heads: `H`.
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        use_bias: Whether the projections have a bias. Defaults to False.
        num_kv_heads: `G`, heads of keys and values, a divisor of `num_heads`. Defaults to
            `num_heads`.
        head_size: `K`, features of queries and keys in each head. Defaults to `D / H`.
        position: A position scheme inside the scores: `ShawRelativePosition`, `T5RelativeBias`,
            `AlibiBias` or `RotaryEmbedding`, which this layer copies, or a
            name, `"shaw"`, `"t5"`, `"alibi"` or `"rotary"`. Defaults to None.
        window: Size of the sliding window: a query attends to keys that are less than `window`
            positions away. Defaults to None, any distance.
        value_dim: Features `V` of a value in each head. Defaults to `K`.
        output_shape: Features of the output. Defaults to `num_hiddens`.
        use_gate: Whether each head's output is multiplied by `sigmoid(q W_h^G)` (Qiu et al. 2025).
            Defaults to False.
        qk_norm: None, or `"rms"` or `"layer"`: normalisation of queries and keys in each head,
            before positions (Henry et al. 2020). Defaults to None.
        norm_epsilon: Number that `qk_norm` adds to variances. Defaults to 1e-6.
        soft_cap: `c` in `c tanh(score / c)`, which bounds the scores before the mask (Gemma Team
            2024, section 2). Defaults to None, no bound.
        use_sinks: Whether each head learns a logit that takes part in the denominator of the
            softmax alone, so that weights may sum to less than 1 (Xiao et al. 2024, section 3.3).
            Defaults to False.
        blockwise: Whether to compute block by block. False gives smaller graphs where the length
            is unknown and never large. On TensorFlow, a second derivative through blocks, or where
            the length is unknown, needs False. Defaults to None: blocks from 2^28 weights on.
        **settings: `seed` of the dropout, and settings of kernels and biases:
            `kernel_initializer`, `bias_initializer`, `kernel_regularizer`, `bias_regularizer`,
            `kernel_constraint`, `bias_constraint`, as in `keras.layers.Dense`.

    Call arguments:
        query: `(B, T, Dq)`.
        key: `(B, S, Dk)`; None with a cache that holds all keys.
        value: `(B, S, Dv)`; None means `key`.
        valid_lens: Integers `(B,)` or `(B, T)`: number of valid keys; later keys are masked.
        attention_mask: Boolean, broadcastable to `(B, T, S)` or `(B, H, T, S)`.
        use_causal_mask: Whether query `t` attends to keys up to position `start + t` only.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.
        attention_bias: Floats added to the scores, broadcastable to `(B, T, S)` or `(B, H, T, S)`.
        query_mask, key_mask, value_mask: Boolean `(B, T)`, `(B, S)`, `(B, S)`; Keras fills them.
        start: Position of the first query among the keys; an integer, or a scalar tensor.
        cache: Optional cache, as described above.
        positions: Integers `(B, T)` or `(T,)` by which `RotaryEmbedding` rotates queries, for
            example to skip padding. Defaults to `start, start + 1, ...`.
        key_positions: Integers `(B, S)` or `(S,)` by which keys are rotated. Defaults to
            `positions`.
        write: Function of cache, new keys and values, `start` and masks that returns the new cache.
            Defaults to `write_cache`.
        observe: Function that is called with the projected `Inputs` (`dot_product.py`), to show
            them. Defaults to None.

    Returns:
        Output `(B, T, D)`; with `return_attention_scores`, then weights `(B, H, T, S)`; with a
        cache, then the new cache.

    Raises:
        ValueError: If `num_hiddens` is not divisible by `num_heads`, or `num_heads` is not
            divisible by `num_kv_heads`, `position` is not a scheme, `key` and `cache` are both
            missing, shapes do not fit, or the cache is too short for an integer `start`.

    Example:

    >>> attention = MultiHeadAttention(num_hiddens=8, num_heads=2)
    >>> x = ops.ones((2, 5, 8))
    >>> output, weights = attention(x, x, use_causal_mask=True, return_attention_scores=True)
    >>> tuple(output.shape), tuple(weights.shape)
    ((2, 5, 8), (2, 2, 5, 5))
    """

    def __init__(
        self,
        num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        use_bias: bool = False,
        num_kv_heads: int | None = None,
        *,
        head_size: int | None = None,
        position: RelativePosition | str | None = None,
        window: int | None = None,
        value_dim: int | None = None,
        output_shape: int | None = None,
        use_gate: bool = False,
        qk_norm: str | None = None,
        norm_epsilon: float = EPSILON,
        soft_cap: float | None = None,
        use_sinks: bool = False,
        blockwise: bool | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.num_hiddens = check_positive_integer("num_hiddens", num_hiddens)
        self.num_heads = check_positive_integer("num_heads", num_heads)
        num_kv_heads = optional(check_positive_integer, "num_kv_heads", num_kv_heads)
        self.num_kv_heads = num_kv_heads or self.num_heads
        self.dropout = check_rate("dropout", dropout)
        self.use_bias = check_boolean("use_bias", use_bias)
        self.window = optional(check_positive_integer, "window", window)
        self.head_size = optional(check_positive_integer, "head_size", head_size)
        if self.head_size is None:
            check_multiple("num_hiddens", self.num_hiddens, "num_heads", self.num_heads)
        check_multiple("num_heads", self.num_heads, "num_kv_heads", self.num_kv_heads)
        self._head_size = self.head_size or self.num_hiddens // self.num_heads
        self.value_dim = optional(check_positive_integer, "value_dim", value_dim)
        self._value_size = self.value_dim or self._head_size
        # Not `output_shape`: Keras reads an attribute of that name in `summary`.
        self._output_shape = optional(check_positive_integer, "output_shape", output_shape)
        self.use_gate = check_boolean("use_gate", use_gate)
        self.qk_norm = check_choice("qk_norm", qk_norm, (None, "rms", "layer"))
        self.norm_epsilon = check_positive_number("norm_epsilon", norm_epsilon)
        self.soft_cap = optional(check_positive_number, "soft_cap", soft_cap)
        self.use_sinks = check_boolean("use_sinks", use_sinks)
        self.blockwise = optional(check_boolean, "blockwise", blockwise)
        self.supports_masking = True
        self._query_dense = self._make("query", self.num_heads * self._head_size)
        self._key_dense = self._make("key", self.num_kv_heads * self._head_size)
        self._value_dense = self._make("value", self.num_kv_heads * self._value_size)
        self._output_dense = self._make("output", self._output_shape or self.num_hiddens)
        if self.use_gate:
            self._gate_dense = self._make("gate", self.num_heads * self._value_size)
        if self.qk_norm is not None:
            self._query_norm = self._make_norm(self.qk_norm, "query_norm")
            self._key_norm = self._make_norm(self.qk_norm, "key_norm")
        self._dropout = self._make_dropout(self.dropout)
        self.position = own_position(position, self.dtype_policy)
        check_scheme(self.position)

    def _make_norm(self, kind: str, name: str) -> Normalization:
        return Normalization(kind, self.norm_epsilon, dtype=self.dtype_policy, name=name)

    def _make(self, name: str, units: int) -> Projection:
        return self._make_projection(units, name, use_bias=self.use_bias)

    def build(
        self,
        query_shape: tuple,
        key_shape: tuple | None = None,
        value_shape: tuple | None = None,
    ) -> None:
        key_shape = query_shape if key_shape is None else key_shape
        self._query_dense.build(query_shape)
        self._key_dense.build(key_shape)
        self._value_dense.build(key_shape if value_shape is None else value_shape)
        self._output_dense.build((None, None, self.num_heads * self._value_size))
        if self.use_gate:
            self._gate_dense.build(query_shape)
        if self.qk_norm is not None:
            self._query_norm.build((None, None, self.num_heads, self._head_size))
            self._key_norm.build((None, None, self.num_kv_heads, self._head_size))
        if self.use_sinks:
            self._sinks = self.add_weight((self.num_heads,), initializer="zeros", name="sinks")
        self._dropout.build((None, None, None, None))
        if self.position is not None:
            self.position.build((None, None, self.num_heads, self._head_size), self._value_size)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) > 2:
            warn_of_order(*args[1:3])
        return super().__call__(*args, **kwargs)

    def call(
        self,
        query: Any,
        key: Any = None,
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
        start: Any = 0,
        cache: dict[str, Any] | None = None,
        positions: Any = None,
        key_positions: Any = None,
        write: Callable[..., dict[str, Any]] = write_cache,
        observe: Callable[[Inputs], Any] | None = None,
    ) -> Any:
        is_self_attention = key is query and (value is None or value is key)
        query, key, value = map(self._to_float, (query, key, value))
        self._check_call(query, key, cache, start, positions, key_positions)
        key_positions = positions if key_positions is None else key_positions
        if cache is not None and key is not None:
            seen = Masks(key_mask=key_mask, value_mask=value_mask).padding()
            new = self._project_keys(hide(key, seen), hide(value, seen), start, key_positions)
            cache = write(cache, new, start, key_mask, value_mask)
            key_mask = value_mask = None
        cache_mask = None if cache is None else cache.get("mask")
        key_masks = key_mask, value_mask, cache_mask
        masks = Masks(valid_lens, attention_mask, use_causal_mask, query_mask, *key_masks)
        masks = masks._replace(start=start, window=self.window)
        masks = masks.of_call(query, key, value, attention_bias, self.num_heads, cache)
        query, padding = hide(query, query_mask), masks.padding()
        queries = self._project_queries(query, start, positions)
        if cache is None:
            new = self._project_keys(hide(key, padding), hide(value, padding), 0, key_positions)
            keys, values = new["key"], new["value"]
        else:
            keys, values = hide(cache["key"], padding), hide(cache["value"], padding)
        if not is_self_attention:  # else the batch sizes are equal, known or not
            keys, values = match_batch(keys, queries), match_batch(values, queries)
        terms = (*self._terms(masks), self._sinks if self.use_sinks else None)
        inputs = Inputs(queries, keys, values, *terms, with_four_axes(attention_bias))
        if observe is not None:
            observe(inputs)
        rules = Rules(self.soft_cap, self.dropout if training else 0.0, self._dropout)
        sums, weights = attend(inputs, masks, rules, return_attention_scores, self.blockwise)
        results = [self._combine(sums, query), *([weights] if return_attention_scores else [])]
        results += [cache] if cache is not None else []
        return results[0] if len(results) == 1 else tuple(results)

    def _check_call(self, query, key, cache, start, positions, key_positions):
        if key is None and cache is None:
            raise ValueError(
                "`key` must be given, or a `cache` of all keys. Received: key=None, cache=None. "
                "Self-attention is `layer(x, x)`."
            )
        check_start(start)
        check_positions(positions, self.position, query, key, key_positions)
        if cache is not None:
            check_cache(cache, query.shape[0], self.num_kv_heads, self._sizes, key is None)
            if key is not None:
                check_room(cache, key, start)

    def _terms(self, masks: Masks) -> OffsetTerms:
        if self.position is None:
            return OffsetTerms()
        return self.position.terms(masks.num_queries, masks.num_keys, masks.start)

    def _project_queries(self, query: Any, start: Any, positions: Any) -> Any:
        """Return scaled queries `(B, H, T, K)`."""
        queries = project_heads(self._query_dense, query, self.num_heads)
        if self.qk_norm is not None:
            queries = self._query_norm(queries)
        queries = queries * self._head_size**-0.5
        return queries if self.position is None else self.position.rotate(queries, start, positions)

    def _project_keys(
        self, key: Any, value: Any = None, start: Any = 0, positions: Any = None
    ) -> dict[str, Any]:
        """Return `{"key": (B, G, S, K), "value": (B, G, S, V)}`."""
        keys = project_heads(self._key_dense, key, self.num_kv_heads)
        if self.qk_norm is not None:
            keys = self._key_norm(keys)
        if self.position is not None:
            keys = self.position.rotate(keys, start, positions)
        value = key if value is None else value
        return {"key": keys, "value": project_heads(self._value_dense, value, self.num_kv_heads)}

    def _combine(self, heads: Any, query: Any) -> Any:
        """Return the output `(B, T, D)` of heads `(B, H, T, V)`."""
        batch_size, _, num_queries, _ = kept_sizes(heads)
        rows = ops.transpose(heads, (0, 2, 1, 3))
        rows = ops.reshape(rows, (batch_size, num_queries, self.num_heads * self._value_size))
        if self.use_gate:
            rows = rows * ops.sigmoid(self._gate_dense(query))
        return self._output_dense(rows)

    def project_memory(
        self,
        key: Any,
        value: Any = None,
        start: Any = 0,
        memory_mask: Any = None,
        positions: Any = None,
    ) -> dict[str, Any]:
        """Return the cache of a whole memory: its keys and values, projected.

        Args:
            key: `(B, S, Dk)`.
            value: `(B, S, Dv)`; None means `key`.
            start: Position of the first key.
            memory_mask: Boolean `(B, S)`, True = attend. Defaults to the Keras mask of `key`.
            positions: Integers `(B, S)` or `(S,)` by which `RotaryEmbedding` rotates the keys.

        Raises:
            ValueError: If the layer is not built: the size of the queries is not known then.
        """
        if not self.built:
            raise ValueError(
                f"Build {self.name!r} before `project_memory`: call it, or "
                "`build(query_shape, key_shape)`. Received: built=False."
            )
        memory_mask = getattr(key, "_keras_mask", None) if memory_mask is None else memory_mask
        seen = None if memory_mask is None else ops.cast(memory_mask, "bool")
        key, value = (hide(self._to_float(x), seen) for x in (key, value))
        cache = self._project_keys(key, value, start, positions)
        return cache if seen is None else {**cache, "mask": seen}

    def make_cache(self, batch_size: Any, length: Any) -> dict[str, Any]:
        """Return an empty cache for `length` positions."""
        return empty_cache(batch_size, length, self.num_kv_heads, self._sizes, self.compute_dtype)

    @property
    def _sizes(self) -> dict[str, int]:
        return {"key": self._head_size, "value": self._value_size}

    def weights_from_keras(self, layer: keras.layers.Layer) -> None:
        """Copy the weights of a built `keras.layers.MultiHeadAttention` or `GroupQueryAttention`.

        Raises:
            ValueError: If a layer is not built, or the weights of both do not correspond.
        """
        copy_from_keras(self, layer)

    @classmethod
    def from_keras(cls, layer: keras.layers.Layer) -> MultiHeadAttention:
        """Return a layer with the options and weights of one of Keras.

        Args:
            layer: A built `keras.layers.MultiHeadAttention` or `keras.layers.GroupQueryAttention`.

        Raises:
            ValueError: If the layer is another, is not built, or attends over several axes.
        """
        return attention_like_keras(cls, layer)

    def compute_output_shape(
        self,
        query_shape: tuple,
        key_shape: tuple | None = None,
        value_shape: tuple | None = None,
    ) -> tuple:
        return (*query_shape[:-1], self._output_dense.units)

    def compute_mask(self, query: Any, previous_mask: Any = None) -> Any:
        return previous_mask

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "output_shape": self._output_shape}
