"""The decoder: token ids and memory in, logits out; whole sequences, or steps with a cache."""

from __future__ import annotations

import keras

from keras_attn.embedding import TokenEmbedding
from keras_attn.encoder import check_num_layers
from keras_attn.feed_forward import FeedForward
from keras_attn.multi_head import MultiHeadAttention
from keras_attn.residual import Residual


@keras.saving.register_keras_serializable(package="keras_attn")
class DecoderBlock(keras.layers.Layer):
    """Masked self-attention, attention to the memory, a feed-forward network.

    The right side of figure 1 of Vaswani et al. 2017; each sub-layer has a residual connection.

    Masking: position `t` attends to positions up to `t`, of the memory to what
    `memory_valid_lens` and the Keras mask leave.

    A cache is a dict `{"self": ..., "memory": ...}` of caches of `MultiHeadAttention`.

    Args:
        num_hiddens: Width `D`, a multiple of `num_heads`.
        ffn_num_hiddens: Inner width of the feed-forward network.
        num_heads: `H`.
        dropout: Rate of dropout of attention weights and after each sub-layer. Defaults to 0.
        norm_first: Whether sub-layers get normalised input, rather than the sum. Defaults to True.
        use_bias: Whether the projections of attention have a bias. Defaults to False.
        activation: Of the feed-forward network. Defaults to `"relu"`.
        cross_attention: Whether there is a memory to attend to. Defaults to True.

    Call arguments:
        x: `(B, T, D)`.
        memory: `(B, S, Dm)`; not needed with a cache.
        memory_valid_lens: Integers `(B,)` or `(B, T)`.
        cache: Optional cache, from `make_cache`.
        start: Position of the first row of `x`; an integer, or a scalar tensor. Defaults to 0.
        training: Whether dropout applies.
        x_mask, memory_mask: Boolean `(B, T)` and `(B, S)`; Keras fills them. With a cache
            `x_mask` is not used.

    Returns:
        `(B, T, D)`, or that and the new cache if one was given.

    Raises:
        ValueError: If the memory is missing, or given without `cross_attention`.

    Example:

    >>> block = DecoderBlock(num_hiddens=8, ffn_num_hiddens=16, num_heads=2)
    >>> tuple(block(keras.ops.ones((2, 5, 8)), keras.ops.ones((2, 3, 6))).shape)
    (2, 5, 8)
    """

    def __init__(
        self,
        num_hiddens,
        ffn_num_hiddens,
        num_heads,
        dropout=0.0,
        norm_first=True,
        use_bias=False,
        activation="relu",
        cross_attention=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.ffn_num_hiddens = ffn_num_hiddens
        self.num_heads = num_heads
        self.dropout = dropout
        self.norm_first = norm_first
        self.use_bias = use_bias
        self.activation = keras.activations.get(activation)
        self.cross_attention = cross_attention
        self.supports_masking = True
        policy = {"dtype": self.dtype_policy}
        around = {"dropout": dropout, "norm_first": norm_first, **policy}
        heads = (num_hiddens, num_heads, dropout, use_bias)
        self._self_attention = MultiHeadAttention(*heads, name="self_attention", **policy)
        self._around_self_attention = Residual(name="around_self_attention", **around)
        if cross_attention:
            self._cross_attention = MultiHeadAttention(*heads, name="cross_attention", **policy)
            self._around_cross_attention = Residual(name="around_cross_attention", **around)
        self._feed_forward = FeedForward(ffn_num_hiddens, activation, name="feed_forward", **policy)
        self._around_feed_forward = Residual(name="around_feed_forward", **around)

    def build(self, x_shape, memory_shape=None):
        if x_shape[-1] != self.num_hiddens:
            raise ValueError(
                "`x` must have `num_hiddens` features, for the residual connection. "
                f"Received: x.shape={tuple(x_shape)}, num_hiddens={self.num_hiddens}."
            )
        self._self_attention.build(x_shape, x_shape)
        self._around_self_attention.build(x_shape)
        if self.cross_attention:
            self._cross_attention.build(x_shape, memory_shape or x_shape)
            self._around_cross_attention.build(x_shape)
        self._feed_forward.build(x_shape)
        self._around_feed_forward.build(x_shape)

    def call(
        self,
        x,
        memory=None,
        memory_valid_lens=None,
        cache=None,
        start=0,
        training=None,
        x_mask=None,
        memory_mask=None,
    ):
        self._check_memory(memory, cache)
        new_cache = {}

        # 1. each position to those up to it
        def attend_to_self(y):
            return self._self_attention(
                y,
                y,
                use_causal_mask=True,
                training=training,
                key_mask=x_mask,
                start=start,
                cache=None if cache is None else cache["self"],
            )

        x = self._around_self_attention(x, sublayer=attend_to_self, training=training)
        if cache is not None:
            x, new_cache["self"] = x

        # 2. each position to the memory
        def attend_to_memory(y):
            return self._cross_attention(
                y,
                memory if cache is None else None,
                valid_lens=memory_valid_lens,
                training=training,
                key_mask=memory_mask,
                cache=None if cache is None else cache["memory"],
            )

        if self.cross_attention:
            x = self._around_cross_attention(x, sublayer=attend_to_memory, training=training)
            if cache is not None:
                x, new_cache["memory"] = x

        # 3. each position by itself
        x = self._around_feed_forward(
            x, sublayer=lambda y: self._feed_forward(y, training=training), training=training
        )
        return x if cache is None else (x, new_cache)

    def _check_memory(self, memory, cache):
        if self.cross_attention and memory is None and cache is None:
            raise ValueError(
                "`memory` must be given to a block with `cross_attention`, or a `cache` that "
                "holds it. Received: memory=None, cache=None."
            )
        if not self.cross_attention and memory is not None:
            raise ValueError(
                "`memory` must be None for a block without `cross_attention`. "
                f"Received: memory.shape={tuple(memory.shape)}."
            )

    def make_cache(self, batch_size, length, memory=None):
        """An empty cache for `length` positions, with the memory projected once."""
        cache = {"self": self._self_attention.make_cache(batch_size, length)}
        if self.cross_attention:
            self._check_memory(memory, None)
            cache["memory"] = self._cross_attention.project_memory(memory)
        return cache

    def compute_mask(self, x, previous_mask=None):
        return previous_mask

    def get_config(self):
        return {
            **super().get_config(),
            "num_hiddens": self.num_hiddens,
            "ffn_num_hiddens": self.ffn_num_hiddens,
            "num_heads": self.num_heads,
            "dropout": self.dropout,
            "norm_first": self.norm_first,
            "use_bias": self.use_bias,
            "activation": keras.activations.serialize(self.activation),
            "cross_attention": self.cross_attention,
        }


@keras.saving.register_keras_serializable(package="keras_attn")
class Decoder(keras.layers.Layer):
    """Token ids to logits of the next token: embedding, decoder blocks, a dense layer.

    Section 3.1 of Vaswani et al. 2017; with `norm_first` the last block is followed by a
    normalisation (Xiong et al. 2020).

    Masking: logits at `t` depend on ids up to `t` only; id 0 is padding and attended by nobody.

    Args:
        vocab_size: `V`.
        num_layers: Blocks, a positive integer.
        num_hiddens: Width `D`, a multiple of `num_heads`.
        ffn_num_hiddens: Inner width of the feed-forward networks.
        num_heads: `H`.
        dropout: Rate of dropout. Defaults to 0.
        norm_first: Whether sub-layers get normalised input. Defaults to True.
        use_bias: Whether the projections of attention have a bias. Defaults to False.
        activation: Of the feed-forward networks. Defaults to `"relu"`.
        cross_attention: Whether there is a memory to attend to. Defaults to True.

    Call arguments:
        ids: Integers `(B, T)`.
        memory: `(B, S, Dm)`; not needed with a cache.
        memory_valid_lens: Integers `(B,)` or `(B, T)`.
        cache: Optional list of a cache for each block, from `make_cache`.
        start: Position of the first column of `ids`; an integer, or a scalar tensor.
        training: Whether dropout applies.
        memory_mask: Boolean `(B, S)`; Keras fills it.

    Returns:
        Logits `(B, T, V)`, or these and the new cache if one was given.

    Raises:
        ValueError: If a size is not a positive integer, or the memory is missing.

    Example:

    >>> decoder = Decoder(
    ...     vocab_size=10, num_layers=2, num_hiddens=8, ffn_num_hiddens=16, num_heads=2
    ... )
    >>> tuple(decoder(keras.ops.convert_to_tensor([[2, 7, 5]]), keras.ops.ones((1, 4, 8))).shape)
    (1, 3, 10)
    """

    def __init__(
        self,
        vocab_size,
        num_layers,
        num_hiddens,
        ffn_num_hiddens,
        num_heads,
        dropout=0.0,
        norm_first=True,
        use_bias=False,
        activation="relu",
        cross_attention=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_num_layers(num_layers)
        self.vocab_size = vocab_size
        self.num_layers = num_layers
        self.num_hiddens = num_hiddens
        self.ffn_num_hiddens = ffn_num_hiddens
        self.num_heads = num_heads
        self.dropout = dropout
        self.norm_first = norm_first
        self.use_bias = use_bias
        self.activation = keras.activations.get(activation)
        self.cross_attention = cross_attention
        policy = {"dtype": self.dtype_policy}
        self._embedding = TokenEmbedding(
            vocab_size, num_hiddens, dropout, name="embedding", **policy
        )
        self._blocks = [
            DecoderBlock(
                num_hiddens,
                ffn_num_hiddens,
                num_heads,
                dropout,
                norm_first,
                use_bias,
                activation,
                cross_attention,
                name=f"block_{i}",
                **policy,
            )
            for i in range(num_layers)
        ]
        self._norm = (
            keras.layers.LayerNormalization(epsilon=1e-6, name="norm", **policy)
            if norm_first
            else None
        )
        self._logits_dense = keras.layers.Dense(vocab_size, name="logits", **policy)

    def build(self, ids_shape, memory_shape=None):
        self._embedding.build(ids_shape)
        hidden_shape = (*ids_shape, self.num_hiddens)
        for block in self._blocks:
            block.build(hidden_shape, memory_shape)
        if self._norm is not None:
            self._norm.build(hidden_shape)
        self._logits_dense.build(hidden_shape)

    def call(
        self,
        ids,
        memory=None,
        memory_valid_lens=None,
        cache=None,
        start=0,
        training=None,
        memory_mask=None,
    ):
        x = self._embedding(ids, start=start, training=training)
        ids_mask = self.compute_mask(ids)
        new_cache = []
        for i, block in enumerate(self._blocks):
            x = block(
                x,
                memory,
                memory_valid_lens=memory_valid_lens,
                cache=None if cache is None else cache[i],
                start=start,
                training=training,
                x_mask=ids_mask,
                memory_mask=memory_mask,
            )
            if cache is not None:
                x, block_cache = x
                new_cache.append(block_cache)
        logits = self._logits_dense(x if self._norm is None else self._norm(x))
        return logits if cache is None else (logits, new_cache)

    def make_cache(self, batch_size, length, memory=None):
        """A cache for each block, for `length` positions, with the memory projected once."""
        return [block.make_cache(batch_size, length, memory) for block in self._blocks]

    def compute_mask(self, ids, previous_mask=None):
        return self._embedding.compute_mask(ids)

    def get_config(self):
        return {
            **super().get_config(),
            "vocab_size": self.vocab_size,
            "num_layers": self.num_layers,
            "num_hiddens": self.num_hiddens,
            "ffn_num_hiddens": self.ffn_num_hiddens,
            "num_heads": self.num_heads,
            "dropout": self.dropout,
            "norm_first": self.norm_first,
            "use_bias": self.use_bias,
            "activation": keras.activations.serialize(self.activation),
            "cross_attention": self.cross_attention,
        }
