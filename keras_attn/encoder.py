"""The encoder: token ids in, memory out."""

from __future__ import annotations

import keras

from keras_attn.embedding import TokenEmbedding
from keras_attn.feed_forward import FeedForward
from keras_attn.multi_head import MultiHeadAttention
from keras_attn.residual import Residual


@keras.saving.register_keras_serializable(package="keras_attn")
class EncoderBlock(keras.layers.Layer):
    """Self-attention, then a feed-forward network, each with a residual connection.

    The left side of figure 1 of Vaswani et al. 2017.

    Masking: a position that `valid_lens` or the Keras mask excludes is attended by nobody.

    Args:
        num_hiddens: Width `D`, a multiple of `num_heads`.
        ffn_num_hiddens: Inner width of the feed-forward network.
        num_heads: `H`.
        dropout: Rate of dropout of attention weights and after each sub-layer. Defaults to 0.
        norm_first: Whether sub-layers get normalised input, rather than the sum. Defaults to True.
        use_bias: Whether the projections of attention have a bias. Defaults to False.
        activation: Of the feed-forward network. Defaults to `"relu"`.

    Call arguments:
        x: `(B, S, D)`.
        valid_lens: Integers `(B,)` or `(B, S)`: positions from the first that may be attended.
        training: Whether dropout applies.
        x_mask: Boolean `(B, S)`; Keras fills it.

    Returns:
        `(B, S, D)`.

    Raises:
        ValueError: If the last dimension of `x` is not `num_hiddens`.

    Example:

    >>> block = EncoderBlock(num_hiddens=8, ffn_num_hiddens=16, num_heads=2)
    >>> tuple(block(keras.ops.ones((2, 5, 8)), valid_lens=[5, 3]).shape)
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
        self.supports_masking = True
        policy = {"dtype": self.dtype_policy}
        around = {"dropout": dropout, "norm_first": norm_first, **policy}
        self._self_attention = MultiHeadAttention(
            num_hiddens, num_heads, dropout, use_bias, name="self_attention", **policy
        )
        self._feed_forward = FeedForward(ffn_num_hiddens, activation, name="feed_forward", **policy)
        self._around_attention = Residual(name="around_self_attention", **around)
        self._around_feed_forward = Residual(name="around_feed_forward", **around)

    def build(self, x_shape):
        if x_shape[-1] != self.num_hiddens:
            raise ValueError(
                "`x` must have `num_hiddens` features, for the residual connection. "
                f"Received: x.shape={tuple(x_shape)}, num_hiddens={self.num_hiddens}."
            )
        self._self_attention.build(x_shape, x_shape)
        self._feed_forward.build(x_shape)
        self._around_attention.build(x_shape)
        self._around_feed_forward.build(x_shape)

    def call(self, x, valid_lens=None, training=None, x_mask=None):
        x = self._around_attention(
            x,
            sublayer=lambda y: self._self_attention(
                y, y, valid_lens=valid_lens, key_mask=x_mask, training=training
            ),
            training=training,
        )
        return self._around_feed_forward(
            x, sublayer=lambda y: self._feed_forward(y, training=training), training=training
        )

    def compute_output_shape(self, x_shape):
        return x_shape

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
        }


@keras.saving.register_keras_serializable(package="keras_attn")
class Encoder(keras.layers.Layer):
    """Token ids to memory: embedding with positions, then a stack of encoder blocks.

    Section 3.1 of Vaswani et al. 2017; with `norm_first` the last block is followed by a
    normalisation (Xiong et al. 2020).

    Masking: id 0 is padding; the mask that says so goes with the memory.

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

    Call arguments:
        ids: Integers `(B, S)`.
        valid_lens: Integers `(B,)`: positions from the first that may be attended.
        training: Whether dropout applies.

    Returns:
        Memory `(B, S, D)`.

    Raises:
        ValueError: If a size is not a positive integer.

    Example:

    >>> encoder = Encoder(
    ...     vocab_size=10, num_layers=2, num_hiddens=8, ffn_num_hiddens=16, num_heads=2
    ... )
    >>> tuple(encoder(keras.ops.convert_to_tensor([[3, 7, 0], [5, 6, 4]])).shape)
    (2, 3, 8)
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
        policy = {"dtype": self.dtype_policy}
        self._embedding = TokenEmbedding(
            vocab_size, num_hiddens, dropout, name="embedding", **policy
        )
        self._blocks = [
            EncoderBlock(
                num_hiddens,
                ffn_num_hiddens,
                num_heads,
                dropout,
                norm_first,
                use_bias,
                activation,
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

    def build(self, ids_shape):
        self._embedding.build(ids_shape)
        hidden_shape = (*ids_shape, self.num_hiddens)
        for block in self._blocks:
            block.build(hidden_shape)
        if self._norm is not None:
            self._norm.build(hidden_shape)

    def call(self, ids, valid_lens=None, training=None):
        x = self._embedding(ids, training=training)
        mask = self.compute_mask(ids)
        for block in self._blocks:
            x = block(x, valid_lens=valid_lens, training=training, x_mask=mask)
        return x if self._norm is None else self._norm(x)

    def compute_output_shape(self, ids_shape):
        return (*ids_shape, self.num_hiddens)

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
        }


def check_num_layers(num_layers):
    """Raise `ValueError` unless `num_layers` is a positive integer."""
    if not isinstance(num_layers, int) or num_layers < 1:
        raise ValueError(
            f"`num_layers` must be a positive integer. Received: num_layers={num_layers!r}."
        )
