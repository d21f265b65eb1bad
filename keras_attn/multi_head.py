"""Attention with several heads, over one sequence or two, with or without a cache."""

from __future__ import annotations

import functools
import numbers

import keras
from keras import ops

from keras_attn.blockwise import attend_blockwise, seen_by_blocks
from keras_attn.checks import check_boolean, check_positive_integer, check_rate, check_start
from keras_attn.heads import attend
from keras_attn.masks import check_shapes, hide, hides_nothing, join_masks, seen
from keras_attn.positions import deserialize_position, serialize_position
from keras_attn.relative import OffsetTerms, RelativePosition

# Attention weights of a batch from which on blocks are the better way: 1 GiB of them in float32.
# Fewer are faster to keep for the gradient than to compute again.
BLOCKWISE_WEIGHTS = 2**28
# What a batch is taken for that has any size, as in `fit`.
TYPICAL_BATCH_SIZE = 8


@keras.saving.register_keras_serializable(package="keras_attn")
class MultiHeadAttention(keras.layers.Layer):
    """Several heads of scaled dot-product attention, side by side.

    `head_h = softmax(Q_h K_h^T / sqrt(K)) V_h` with `Q_h = q W_h^Q` and so on; the heads are
    concatenated and projected by `W^O` (Vaswani et al. 2017, section 3.2.2). `K = D / H`. With
    `num_kv_heads` below `num_heads`, groups of heads share keys and values (Ainslie et al. 2023);
    with 1, all do (Shazeer 2019).

    Long sequences are attended block by block, in memory that grows with `T + S`, unless the
    weights are asked for: the answer is the same.

    Masking: True = may attend; all masks given hold at once. A query without any key left gets
    weights 0 and, before `W^O`, output 0.

    A cache makes decoding cheap: a dict `{"key": (B, L, G, K), "value": (B, L, G, K)}` of what was
    projected before, `G` the key-value heads. With a cache and a `key`, the new keys and values
    are written at `start` and all of the cache is attended (use the causal mask: it hides what is
    not written yet; `valid_lens` and `attention_mask` then speak of all `L` positions, and
    `key_mask` and `value_mask` are not used). With a cache and `key=None`, the cache is the
    memory, made once by `project_memory`.

    Args:
        num_hiddens: Width `D` of the projections and of the output; a multiple of `num_heads`.
        num_heads: `H`.
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        use_bias: Whether the four projections have a bias. Defaults to False.
        num_kv_heads: `G`, heads of keys and values, a divisor of `num_heads`. Defaults to
            `num_heads`.
        position: A scheme of positions inside the scores: `ShawRelativePosition`,
            `T5RelativeBias`, `AlibiBias` or `RotaryEmbedding`. Defaults to None.
        window: Distance from which on keys are hidden from a query; with the causal mask a query
            sees `window` keys, its own among them. Defaults to None, any distance.

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
        ValueError: If `num_hiddens` is not a multiple of `num_heads`, or that of `num_kv_heads`,
            `position` is no scheme, `key` and `cache` are both missing, shapes do not fit, or the
            cache is too short (where `start` is an integer; a tensor is not looked into).

    Example:

    >>> attention = MultiHeadAttention(num_hiddens=8, num_heads=2)
    >>> x = ops.ones((2, 5, 8))
    >>> output, weights = attention(x, x, use_causal_mask=True, return_attention_scores=True)
    >>> tuple(output.shape), tuple(weights.shape)
    ((2, 5, 8), (2, 2, 5, 5))
    """

    def __init__(
        self,
        num_hiddens,
        num_heads,
        dropout=0.0,
        use_bias=False,
        num_kv_heads=None,
        position=None,
        window=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        check_positive_integer("num_hiddens", num_hiddens)
        check_positive_integer("num_heads", num_heads)
        check_positive_integer("num_kv_heads", num_kv_heads)
        check_rate("dropout", dropout)
        check_boolean("use_bias", use_bias)
        if window is not None:
            check_positive_integer("window", window)
        if num_hiddens % num_heads:
            raise ValueError(
                "`num_hiddens` must be a multiple of `num_heads`. "
                f"Received: num_hiddens={num_hiddens}, num_heads={num_heads}. "
                f"Use num_hiddens={num_hiddens + num_heads - num_hiddens % num_heads}."
            )
        if num_heads % num_kv_heads:
            raise ValueError(
                "`num_heads` must be a multiple of `num_kv_heads`. "
                f"Received: num_heads={num_heads}, num_kv_heads={num_kv_heads}."
            )
        if position is not None and not isinstance(position, RelativePosition):
            raise ValueError(
                "`position` must be None, ShawRelativePosition, T5RelativeBias, AlibiBias or "
                f"RotaryEmbedding. Received: position={position!r}."
            )
        self.num_hiddens = num_hiddens
        self.num_heads = num_heads
        self.dropout = dropout
        self.use_bias = use_bias
        self.num_kv_heads = num_kv_heads
        self.window = window
        self.supports_masking = True
        self._head_size = num_hiddens // num_heads
        dense = {"use_bias": use_bias, "dtype": self.dtype_policy}
        kv_size = num_kv_heads * self._head_size
        self._query_dense = keras.layers.Dense(num_hiddens, name="query", **dense)
        self._key_dense = keras.layers.Dense(kv_size, name="key", **dense)
        self._value_dense = keras.layers.Dense(kv_size, name="value", **dense)
        self._output_dense = keras.layers.Dense(num_hiddens, name="output", **dense)
        self._dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy, name="dropout")
        self.position = position

    def build(self, query_shape, key_shape=None, value_shape=None):
        key_shape = query_shape if key_shape is None else key_shape
        self._query_dense.build(query_shape)
        self._key_dense.build(key_shape)
        self._value_dense.build(key_shape if value_shape is None else value_shape)
        self._output_dense.build((None, None, self.num_hiddens))
        self._dropout.build((None, None, None, None))
        # A scheme that was read from a configuration comes built.
        if self.position is not None and not self.position.built:
            self.position.build((None, None, self.num_heads, self._head_size))

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
                "`key` must be given, or a `cache` that holds all keys. "
                "Received: key=None, cache=None."
            )
        check_start(start)
        if cache is not None:
            self._check_cache(cache)
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
        num_keys = all_keys.shape[1] if len(all_keys.shape) > 1 else None
        check_shapes(num_keys, self.num_heads, query=query, **inputs, **masks)
        masks |= {"use_causal_mask": use_causal_mask, "start": start, "window": self.window}

        sizes = ops.shape(query)[1], ops.shape(all_keys)[1]
        blockwise = not return_attention_scores and self._blocks_pay(query.shape[0], *sizes)
        mask = self._join(*sizes, masks) if blockwise is False else None
        seen_queries, seen_keys = self._seen(ops.shape(query)[0], sizes, masks, mask, blockwise)
        queries = self._project(self._query_dense, hide(query, seen_queries), self.num_heads)
        queries = queries * self._head_size**-0.5
        attended = self._keys_and_values(key, value, seen_keys, start, cache)
        terms = OffsetTerms()
        if self.position is not None:
            queries = self.position.rotate(queries, start)
            terms = self.position.terms(*sizes, start)
        queries, keys, values = (
            ops.transpose(x, (0, 2, 1, 3)) for x in (queries, attended["key"], attended["value"])
        )

        def at_once():
            joined = self._join(*sizes, masks) if mask is None else mask
            drop = functools.partial(self._dropout, training=training)
            return attend(queries, keys, values, joined, terms, drop)

        def by_blocks():
            rate, seed = self._rate_and_seed(training)
            return attend_blockwise(queries, keys, values, masks, terms, rate, seed)

        weights = None
        if blockwise is False:
            sums, weights = at_once()
        elif blockwise is True:
            sums = by_blocks()
        else:
            sums = ops.cond(blockwise, by_blocks, lambda: at_once()[0])
        results = [self._combine(sums)]
        if return_attention_scores:
            results.append(weights)
        if cache is not None:
            results.append(attended)
        return results[0] if len(results) == 1 else tuple(results)

    def _blocks_pay(self, batch_size, num_queries, num_keys):
        """Whether to go block by block: a boolean, or a tensor if the sizes are tensors."""
        batch_size = batch_size if isinstance(batch_size, int) else TYPICAL_BATCH_SIZE
        num_rows = batch_size * self.num_heads
        if isinstance(num_queries, int) and isinstance(num_keys, int):
            return num_queries > 1 and num_rows * num_queries * num_keys >= BLOCKWISE_WEIGHTS
        is_step = isinstance(num_queries, int) and num_queries == 1
        if is_step or not (ops.is_tensor(num_queries) or ops.is_tensor(num_keys)):
            return False  # a step with a cache, or JAX, which asks for shapes alone
        # As floats: the product of the lengths that matter is past the largest int32.
        num_queries, num_keys = (ops.cast(size, "float32") for size in (num_queries, num_keys))
        return num_rows * num_queries * num_keys >= BLOCKWISE_WEIGHTS

    def _seen(self, batch_size, sizes, masks, mask, blockwise):
        """`masks.seen`, by the path that attention takes; None and None if nothing is hidden."""
        if hides_nothing(masks):
            return None, None
        if blockwise is False:
            return seen(mask)
        num_queries, num_keys = sizes

        def at_once():
            queries, keys = seen(self._join(num_queries, num_keys, masks))
            return (
                ops.broadcast_to(queries, (batch_size, num_queries)),
                ops.broadcast_to(keys, (batch_size, num_keys)),
            )

        def by_blocks():
            return seen_by_blocks(batch_size, num_queries, num_keys, masks)

        return by_blocks() if blockwise is True else ops.cond(blockwise, by_blocks, at_once)

    def _join(self, num_queries, num_keys, masks):
        mask = join_masks(num_queries, num_keys, **masks)
        return mask[:, None] if mask is not None and len(mask.shape) == 3 else mask

    def _rate_and_seed(self, training):
        if not training or not self.dropout:
            return 0.0, None
        return self.dropout, self._dropout.seed_generator.next()

    def _keys_and_values(self, key, value, seen_keys, start, cache):
        """What is attended, projected: `{"key": (B, S, G, K), "value": (B, S, G, K)}`."""
        if cache is None:
            key = hide(key, seen_keys)
            return self.project_memory(key, key if value is None else hide(value, seen_keys))
        if key is None:
            return dict(cache)
        new = self.project_memory(key, value, start)
        return {name: ops.slice_update(cache[name], (0, start, 0, 0), new[name]) for name in new}

    def _check_cache(self, cache):
        expected = (self.num_kv_heads, self._head_size)
        shapes = cache
        if isinstance(cache, dict):
            shapes = {name: tuple(part.shape) for name, part in cache.items()}
            if set(shapes) == {"key", "value"} and all(
                len(shape) == 4
                and all(a in (None, b) for a, b in zip(shape[2:], expected, strict=True))
                for shape in shapes.values()
            ):
                return
        raise ValueError(
            "`cache` must be a dict of `key` and `value`, each of shape "
            f"(B, L, {expected[0]}, {expected[1]}), as make_cache and project_memory return it. "
            f"Received: cache={shapes!r} (shapes)."
        )

    def _check_room(self, cache, key, start):
        length, new = cache["key"].shape[1], key.shape[1]
        # Past the end, the write would move to the left and destroy what stands there.
        is_known = isinstance(start, numbers.Integral) and None not in (length, new)
        if is_known and start + new > length:
            raise ValueError(
                "`cache` must be long enough for the keys written at `start`. "
                f"Received: start={start}, key.shape[1]={new}, a cache of length {length}. "
                f"Make it with make_cache(batch_size, length={start + new})."
            )

    # Dense layers get matrices: TensorFlow then adds the bias inside the product.

    def _project(self, dense, x, num_heads):
        """`(B, T, D)` through a dense layer and cut into heads, `(B, T, H, K)`."""
        rows = dense(ops.reshape(x, (-1, ops.shape(x)[-1])))
        return ops.reshape(rows, (*ops.shape(x)[:2], num_heads, self._head_size))

    def _combine(self, heads):
        """`(B, H, T, K)` joined to `(B, T, D)` and through the last dense layer."""
        batch_size, _, num_queries, _ = ops.shape(heads)
        rows = ops.reshape(ops.transpose(heads, (0, 2, 1, 3)), (-1, self.num_hiddens))
        return ops.reshape(self._output_dense(rows), (batch_size, num_queries, self.num_hiddens))

    def project_memory(self, key, value=None, start=0):
        """Keys and values `(B, S, G, K)`, projected: the cache of a whole memory."""
        value = key if value is None else value
        keys = self._project(self._key_dense, key, self.num_kv_heads)
        if self.position is not None:
            keys = self.position.rotate(keys, start)
        values = self._project(self._value_dense, value, self.num_kv_heads)
        return {"key": keys, "value": values}

    def make_cache(self, batch_size, length):
        """An empty cache for `length` positions."""
        shape = (batch_size, length, self.num_kv_heads, self._head_size)
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
            "num_kv_heads": self.num_kv_heads,
            "position": serialize_position(self.position),
            "window": self.window,
        }

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "position": deserialize_position(config.get("position"))})
