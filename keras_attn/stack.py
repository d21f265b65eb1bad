"""What encoder and decoder share: options, the sub-layers of a block, blocks upon each other."""

from __future__ import annotations

import abc

import keras

from keras_attn.checks import check_positive_integer, get_activation
from keras_attn.embedding import TokenEmbedding
from keras_attn.feed_forward import FeedForward
from keras_attn.multi_head import MultiHeadAttention
from keras_attn.positions import deserialize_position, serialize_position
from keras_attn.relative import RelativePosition
from keras_attn.residual import Residual, make_norm


class Options(keras.layers.Layer):
    """The arguments that blocks and stacks of blocks have in common, and their configuration.

    They are described at `EncoderBlock`.
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
        gated=False,
        norm="layer",
        num_kv_heads=None,
        position=None,
        window=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_hiddens = num_hiddens
        self.ffn_num_hiddens = ffn_num_hiddens
        self.num_heads = num_heads
        self.dropout = dropout
        self.norm_first = norm_first
        self.use_bias = use_bias
        self.activation = get_activation("activation", activation)
        self.gated = gated
        self.norm = norm
        self.num_kv_heads = num_kv_heads
        # What was given is a setting, not a part: the parts made of it are tracked where they are.
        object.__setattr__(self, "position", position)
        self.window = window

    @property
    def options(self):
        """The arguments by name."""
        return {
            "num_hiddens": self.num_hiddens,
            "ffn_num_hiddens": self.ffn_num_hiddens,
            "num_heads": self.num_heads,
            "dropout": self.dropout,
            "norm_first": self.norm_first,
            "use_bias": self.use_bias,
            "activation": self.activation,
            "gated": self.gated,
            "norm": self.norm,
            "num_kv_heads": self.num_kv_heads,
            "position": self.position,
            "window": self.window,
        }

    def get_config(self):
        config = {**super().get_config(), **self.options}
        config["activation"] = keras.activations.serialize(self.activation)
        config["position"] = serialize_position(self.position)
        return config

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "position": deserialize_position(config["position"])})


class Block(Options):
    """Self-attention and a feed-forward network, each with a residual connection around it.

    A subclass says in `call` what happens in which order.
    """

    def __init__(
        self, num_hiddens, ffn_num_hiddens, num_heads, dropout=0.0, norm_first=True, **options
    ):
        super().__init__(num_hiddens, ffn_num_hiddens, num_heads, dropout, norm_first, **options)
        self.supports_masking = True
        self._self_attention = self._attention(
            "self_attention", position=self.position, window=self.window
        )
        self._around_self_attention = self._around("self_attention")
        self._feed_forward = FeedForward(
            ffn_num_hiddens,
            self.activation,
            gated=self.gated,
            name="feed_forward",
            dtype=self.dtype_policy,
        )
        self._around_feed_forward = self._around("feed_forward")

    def _attention(self, name, **kwargs):
        return MultiHeadAttention(
            self.num_hiddens,
            self.num_heads,
            self.dropout,
            self.use_bias,
            self.num_kv_heads,
            name=name,
            dtype=self.dtype_policy,
            **kwargs,
        )

    def _around(self, sublayer):
        return Residual(
            self.dropout,
            self.norm_first,
            self.norm,
            name=f"around_{sublayer}",
            dtype=self.dtype_policy,
        )

    def build(self, x_shape):
        if x_shape[-1] != self.num_hiddens:
            raise ValueError(
                "`x` must have `num_hiddens` features, for the residual connection. "
                f"Received: x.shape={tuple(x_shape)}, num_hiddens={self.num_hiddens}."
            )
        self._self_attention.build(x_shape, x_shape)
        self._around_self_attention.build(x_shape)
        self._feed_forward.build(x_shape)
        self._around_feed_forward.build(x_shape)

    def compute_mask(self, x, previous_mask=None):
        return previous_mask


class Stack(Options, abc.ABC):
    """Token embedding, blocks upon each other, a normalisation where blocks end without one.

    A subclass makes its blocks in `_make_block` and says in `call` what flows through them.
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
        position="sinusoidal",
        **options,
    ):
        super().__init__(
            num_hiddens,
            ffn_num_hiddens,
            num_heads,
            dropout,
            norm_first,
            position=position,
            **options,
        )
        check_positive_integer("vocab_size", vocab_size)
        check_positive_integer("num_layers", num_layers)
        self.vocab_size = vocab_size
        self.num_layers = num_layers
        in_scores = isinstance(position, RelativePosition)
        self._embedding = TokenEmbedding(
            vocab_size,
            num_hiddens,
            dropout,
            None if in_scores else position,
            name="embedding",
            dtype=self.dtype_policy,
        )
        self._blocks = []
        for i in range(num_layers):
            # The settings of a scheme are shared, its weights are not.
            own = type(position).from_config(position.get_config()) if in_scores else None
            self._blocks.append(
                self._make_block(
                    **{**self.options, "position": own},
                    name=f"block_{i}",
                    dtype=self.dtype_policy,
                )
            )
        self._norm = make_norm(self.norm, self.dtype_policy) if norm_first else None

    @abc.abstractmethod
    def _make_block(self, **options):
        """A block with these arguments."""

    def _build_stack(self, ids_shape, *memory_shape):
        self._embedding.build(ids_shape)
        hidden_shape = (*ids_shape, self.num_hiddens)
        for block in self._blocks:
            block.build(hidden_shape, *memory_shape)
        if self._norm is not None:
            self._norm.build(hidden_shape)

    def compute_mask(self, ids, previous_mask=None):
        return self._embedding.compute_mask(ids)

    def get_config(self):
        return {
            **super().get_config(),
            "vocab_size": self.vocab_size,
            "num_layers": self.num_layers,
        }
