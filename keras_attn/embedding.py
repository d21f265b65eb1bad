"""Token ids to vectors that know their position."""

from __future__ import annotations

import keras

from keras_attn.checks import check_integers, check_layout, check_positive_integer, check_rate
from keras_attn.positions import PositionalEncoding


@keras.saving.register_keras_serializable(package="keras_attn")
class TokenEmbedding(keras.layers.Layer):
    """Embeds token ids, scales and adds positions: where every encoder and decoder starts.

    `sqrt(D) * E[id] + P[t]` (Vaswani et al. 2017, sections 3.4 and 3.5).

    Masking: id 0 is padding; the mask that says so goes with the output.

    Args:
        vocab_size: `V`, a positive integer.
        num_hiddens: `D`, a positive integer.
        dropout: Rate at which the sum is dropped in training. Defaults to 0.

    Call arguments:
        ids: Integers `(B, T)`.
        start: Position of the first column; an integer, or a scalar tensor. Defaults to 0.
        training: Whether dropout applies.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: If a size is not a positive integer, or `ids` are not integers `(B, T)`.

    Example:

    >>> tuple(TokenEmbedding(10, 4)(keras.ops.ones((2, 3), "int32")).shape)
    (2, 3, 4)
    """

    def __init__(self, vocab_size, num_hiddens, dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        check_positive_integer("vocab_size", vocab_size)
        check_positive_integer("num_hiddens", num_hiddens)
        check_rate("dropout", dropout)
        self.vocab_size = vocab_size
        self.num_hiddens = num_hiddens
        self.dropout = dropout
        self._embedding = keras.layers.Embedding(
            vocab_size,
            num_hiddens,
            embeddings_initializer=keras.initializers.RandomNormal(stddev=num_hiddens**-0.5),
            mask_zero=True,
            dtype=self.dtype_policy,
            name="tokens",
        )
        self._positions = PositionalEncoding(
            dropout=dropout, dtype=self.dtype_policy, name="positions"
        )

    def build(self, ids_shape):
        self._embedding.build(ids_shape)
        self._positions.build((*ids_shape, self.num_hiddens))

    def call(self, ids, start=0, training=None):
        check_layout("ids", ids.shape, "BT")
        # Floats may have been rounded already: bfloat16 holds no odd number above 256.
        check_integers("ids", ids)
        x = self._embedding(ids) * self.num_hiddens**0.5
        return self._positions(x, start=start, training=training)

    def compute_mask(self, ids, previous_mask=None):
        return self._embedding.compute_mask(ids)

    def get_config(self):
        return {
            **super().get_config(),
            "vocab_size": self.vocab_size,
            "num_hiddens": self.num_hiddens,
            "dropout": self.dropout,
        }
