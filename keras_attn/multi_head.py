"""Attention with several heads, over one sequence or two, with or without a cache."""

from __future__ import annotations

import keras
from keras import ops

from keras_attn.masks import check_shapes, hide_unseen, join_masks
from keras_attn.scoring import weighted_sum
from keras_attn.softmax import masked_softmax


@keras.saving.register_keras_serializable(package="keras_attn")
class MultiHeadAttention(keras.layers.Layer):
    """Several heads of scaled dot-product attention, side by side.

    `head_h = softmax(Q_h K_h^T / sqrt(K)) V_h` with `Q_h = q W_h^Q` and so on; the heads are
    concatenated and projected by `W^O` (Vaswani et al. 2017, section 3.2.2). `K = D / H`.

    Masking: True = may attend; all masks given hold at once. A query without any key left gets
    weights 0 and, before `W^O`, output 0.

    A cache makes decoding cheap: a dict `{"key": (B, L, H, K), "value": (B, L, H, K)}` of what was
    projected before. With a cache and a `key`, the new keys and values are written at `start`
    and all of the cache is attended (use the causal mask: it hides what is not written yet;
    `valid_lens` and `attention_mask` then speak of all `L` positions, and `key_mask` and
    `value_mask` are not used). With a cache and `key=None`, the cache is the memory, made once by
    `project_memory`.

    Args:
        num_hiddens: Width `D` of the projections and of the output; a multiple of `num_heads`.
        num_heads: `H`.
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        use_bias: Whether the four projections have a bias. Defaults to False.

    Call arguments:
        query: `(B, T, Dq)`.
        key: `(B, S, Dk)`; None with a cache that holds all keys.
        value: `(B, S, Dv)`; None means `key`.
        valid_lens: Integers `(B,)` or `(B, T)`: keys from the first that may be attended.
        attention_mask: Boolean, broadcastable to `(B, T, S)` or `(B, H, T, S)`.
        use_causal_mask: Whether query `t`, at position `start + t`, attends to keys up to there.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.
        query_mask, key_mask, value_mask: Boolean `(B, T)`, `(B, S)`, `(B, S)`; Keras fills them.
        start: Position of the first query among the keys; an integer, or a scalar tensor.
        cache: Optional cache, above.

    Returns:
        Output `(B, T, D)`; with `return_attention_scores`, then weights `(B, H, T, S)`; with a
        cache, then the new cache.

    Raises:
        ValueError: If `num_hiddens` is not a multiple of `num_heads`, `key` and `cache` are both
            missing, shapes do not fit, or the cache is too short (where `start` is an integer; a
            tensor is not looked into).

    Example:

    >>> attention = MultiHeadAttention(num_hiddens=8, num_heads=2)
    >>> x = ops.ones((2, 5, 8))
    >>> output, weights = attention(x, x, use_causal_mask=True, return_attention_scores=True)
    >>> tuple(output.shape), tuple(weights.shape)
    ((2, 5, 8), (2, 2, 5, 5))
    """

    def __init__(self, num_hiddens, num_heads, dropout=0.0, use_bias=False, **kwargs):
        super().__init__(**kwargs)
        for name, size in (("num_hiddens", num_hiddens), ("num_heads", num_heads)):
            if not isinstance(size, int) or size < 1:
                raise ValueError(f"`{name}` must be a positive integer. Received: {name}={size!r}.")
        if num_hiddens % num_heads:
            raise ValueError(
                "`num_hiddens` must be a multiple of `num_heads`. "
                f"Received: num_hiddens={num_hiddens}, num_heads={num_heads}. "
                f"Use num_hiddens={num_hiddens + num_heads - num_hiddens % num_heads}."
            )
        self.num_hiddens = num_hiddens
        self.num_heads = num_heads
        self.dropout = dropout
        self.use_bias = use_bias
        self.supports_masking = True
        dense = {"use_bias": use_bias, "dtype": self.dtype_policy}
        self._query_dense = keras.layers.Dense(num_hiddens, name="query", **dense)
        self._key_dense = keras.layers.Dense(num_hiddens, name="key", **dense)
        self._value_dense = keras.layers.Dense(num_hiddens, name="value", **dense)
        self._output_dense = keras.layers.Dense(num_hiddens, name="output", **dense)
        self._dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy, name="dropout")

    def build(self, query_shape, key_shape=None, value_shape=None):
        key_shape = query_shape if key_shape is None else key_shape
        self._query_dense.build(query_shape)
        self._key_dense.build(key_shape)
        self._value_dense.build(key_shape if value_shape is None else value_shape)
        self._output_dense.build((None, None, self.num_hiddens))
        self._dropout.build((None, None, None, None))

    def call(
        self,
        query,
        key=None,
        value=None,
        valid_lens=None,
        attention_mask=None,
        use_causal_mask=False,
        return_attention_scores=False,
        training=None,
        query_mask=None,
        key_mask=None,
        value_mask=None,
        start=0,
        cache=None,
    ):
        if key is None and cache is None:
            raise ValueError(
                "`key` must be given, or a `cache` that holds all keys. Received: none."
            )
        if cache is not None and key is not None:
            # These masks are as long as `key`, not as the cache: what is not to be attended there
            # is the caller's to say by `valid_lens` or `attention_mask`.
            key_mask = value_mask = None
            self._check_room(cache, key, start)
        masks = {
            "valid_lens": valid_lens,
            "attention_mask": attention_mask,
            "query_mask": query_mask,
            "key_mask": key_mask,
            "value_mask": value_mask,
        }
        inputs = {"key": key, "value": value} if cache is None else {}
        all_keys = key if cache is None else cache["key"]
        check_shapes(all_keys.shape[1], self.num_heads, query=query, **inputs, **masks)
        mask = join_masks(
            ops.shape(query)[1],
            ops.shape(all_keys)[1],
            use_causal_mask=use_causal_mask,
            start=start,
            **masks,
        )
        if mask is not None and len(mask.shape) == 3:
            mask = mask[:, None]  # (B, 1, T, S)
        queries = self._split(self._query_dense(hide_unseen(query, mask, axis=-2)))
        attended = self._keys_and_values(key, value, mask, start, cache)
        output, weights = self._attend(queries, attended["key"], attended["value"], mask, training)
        results = [output]
        if return_attention_scores:
            results.append(weights)
        if cache is not None:
            results.append(attended)
        return results[0] if len(results) == 1 else tuple(results)

    def _keys_and_values(self, key, value, mask, start, cache):
        """What is attended, projected: `{"key": (B, S, H, K), "value": (B, S, H, K)}`."""
        if cache is None:
            key = hide_unseen(key, mask, axis=-1)
            value = key if value is None else hide_unseen(value, mask, axis=-1)
            return self.project_memory(key, value)
        if key is None:
            return dict(cache)
        new = self.project_memory(key, value)
        return {name: ops.slice_update(cache[name], (0, start, 0, 0), new[name]) for name in new}

    def _check_room(self, cache, key, start):
        length, new = cache["key"].shape[1], key.shape[1]
        # Past the end, the write would move to the left and destroy what stands there.
        if isinstance(start, int) and None not in (length, new) and start + new > length:
            raise ValueError(
                "`cache` must be long enough for the keys written at `start`. "
                f"Received: start={start}, key.shape[1]={new}, a cache of length {length}. "
                f"Make it with make_cache(batch_size, length={start + new})."
            )

    def _attend(self, queries, keys, values, mask, training):
        queries = (
            ops.transpose(queries, (0, 2, 1, 3)) * (self.num_hiddens // self.num_heads) ** -0.5
        )
        scores = ops.matmul(queries, ops.transpose(keys, (0, 2, 3, 1)))  # (B, H, T, S)
        weights = masked_softmax(scores, mask=mask)
        dropped = self._dropout(weights, training=training)
        heads = weighted_sum(dropped, ops.transpose(values, (0, 2, 1, 3)), mask)  # (B, H, T, K)
        heads = ops.transpose(heads, (0, 2, 1, 3))
        batch_size, num_queries = ops.shape(heads)[0], ops.shape(heads)[1]
        joined = ops.reshape(heads, (batch_size, num_queries, self.num_hiddens))
        return self._output_dense(joined), weights

    def _split(self, x):
        head_size = self.num_hiddens // self.num_heads
        return ops.reshape(x, (*ops.shape(x)[:2], self.num_heads, head_size))  # (B, S, H, K)

    def project_memory(self, key, value=None):
        """The cache of a whole memory: keys and values `(B, S, H, K)`, projected once."""
        value = key if value is None else value
        return {
            "key": self._split(self._key_dense(key)),
            "value": self._split(self._value_dense(value)),
        }

    def make_cache(self, batch_size, length):
        """An empty cache for `length` positions."""
        shape = (batch_size, length, self.num_heads, self.num_hiddens // self.num_heads)
        return {name: ops.zeros(shape, self.compute_dtype) for name in ("key", "value")}

    def compute_mask(self, query, previous_mask=None):
        return previous_mask

    def get_config(self):
        return {
            **super().get_config(),
            "num_hiddens": self.num_hiddens,
            "num_heads": self.num_heads,
            "dropout": self.dropout,
            "use_bias": self.use_bias,
        }
