"""Token ids to vectors that know their position."""

from __future__ import annotations

import keras
from keras import ops

from keras_attn.checks import check_integers, check_layout, check_positive_integer, check_rate
from keras_attn.positions import (
    LearnedPositionalEncoding,
    PositionalEncoding,
    deserialize_position,
    serialize_position,
)


@keras.saving.register_keras_serializable(package="keras_attn")
class TokenEmbedding(keras.layers.Layer):
    """Embeds token ids, scales and adds positions: where every encoder and decoder starts.

    `sqrt(D) * E[id] + P[t]` (Vaswani et al. 2017, sections 3.4 and 3.5). The way back, from a
    vector `x` to a logit for each id, is `logits`: `x E^T` (Press and Wolf 2017).

    Masking: id 0 is padding; the mask that says so goes with the output.

    Args:
        vocab_size: `V`, a positive integer.
        num_hiddens: `D`, a positive integer.
        dropout: Rate at which the sum is dropped in training. Defaults to 0.
        position: `"sinusoidal"`, a layer that adds positions (`PositionalEncoding`,
            `LearnedPositionalEncoding`), or None for none. Defaults to `"sinusoidal"`.

    Call arguments:
        ids: Integers `(B, T)`.
        start: Position of the first column; an integer, or a scalar tensor. Defaults to 0.
        training: Whether dropout applies.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: If a size is not a positive integer, `position` is something else, or `ids`
            are not integers `(B, T)`.

    Example:

    >>> tuple(TokenEmbedding(10, 4)(keras.ops.ones((2, 3), "int32")).shape)
    (2, 3, 4)
    """

    def __init__(self, vocab_size, num_hiddens, dropout=0.0, position="sinusoidal", **kwargs):
        super().__init__(**kwargs)
        check_positive_integer("vocab_size", vocab_size)
        check_positive_integer("num_hiddens", num_hiddens)
        check_rate("dropout", dropout)
        adds = isinstance(position, PositionalEncoding | LearnedPositionalEncoding)
        if not adds and position not in ("sinusoidal", None):
            raise ValueError(
                '`position` must be "sinusoidal", PositionalEncoding, LearnedPositionalEncoding or '
                f"None. Received: position={position!r}."
            )
        self.vocab_size = vocab_size
        self.num_hiddens = num_hiddens
        self.dropout = dropout
        self.position = position
        self._embedding = keras.layers.ReversibleEmbedding(
            vocab_size,
            num_hiddens,
            embeddings_initializer=keras.initializers.RandomNormal(stddev=num_hiddens**-0.5),
            reverse_dtype=self.compute_dtype,
            dtype=self.dtype_policy,
            name="tokens",
        )
        self._embedding.supports_masking = True  # on the way back, vectors come with a mask
        if position == "sinusoidal":
            position = PositionalEncoding(dtype=self.dtype_policy, name="positions")
        self._positions = position
        self._dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy, name="dropout")

    def build(self, ids_shape):
        x_shape = (*ids_shape, self.num_hiddens)
        self._embedding.build(ids_shape)
        # A layer that was read from a configuration comes built.
        if self._positions is not None and not self._positions.built:
            self._positions.build(x_shape)
        self._dropout.build(x_shape)

    def call(self, ids, start=0, training=None):
        check_layout("ids", ids.shape, "BT")
        # Floats may have been rounded already: bfloat16 holds no odd number above 256.
        check_integers("ids", ids)
        x = self._embedding(ids) * self.num_hiddens**0.5
        if self._positions is not None:
            x = self._positions(x, start=start, training=training)
        return self._dropout(x, training=training)

    def logits(self, x):
        """A logit for each id, `(B, T, V)`, from `(B, T, D)`."""
        return self._embedding(x, reverse=True)

    def compute_mask(self, ids, previous_mask=None):
        return ops.not_equal(ids, 0)

    def get_config(self):
        return {
            **super().get_config(),
            "vocab_size": self.vocab_size,
            "num_hiddens": self.num_hiddens,
            "dropout": self.dropout,
            "position": serialize_position(self.position),
        }

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "position": deserialize_position(config.get("position"))})
