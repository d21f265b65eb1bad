"""The network that a block applies to each position by itself."""

from __future__ import annotations

import keras


@keras.saving.register_keras_serializable(package="keras_attn")
class FeedForward(keras.layers.Layer):
    """Two dense layers, the same for every position.

    `FFN(x) = W_2 f(W_1 x + b_1) + b_2` (Vaswani et al. 2017, section 3.3), as wide at the end as
    its input.

    Masking: keeps the mask of its input.

    Args:
        ffn_num_hiddens: Inner width, a positive integer.
        activation: `f`, by any name Keras knows. Defaults to `"relu"`.
        dropout: Rate at which inner values are dropped in training. Defaults to 0.

    Call arguments:
        x: `(B, T, D)`.
        training: Whether dropout applies.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: If `ffn_num_hiddens` is not a positive integer.

    Example:

    >>> tuple(FeedForward(16)(keras.ops.ones((2, 3, 4))).shape)
    (2, 3, 4)
    """

    def __init__(self, ffn_num_hiddens, activation="relu", dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(ffn_num_hiddens, int) or ffn_num_hiddens < 1:
            raise ValueError(
                "`ffn_num_hiddens` must be a positive integer. "
                f"Received: ffn_num_hiddens={ffn_num_hiddens!r}."
            )
        self.ffn_num_hiddens = ffn_num_hiddens
        self.activation = keras.activations.get(activation)
        self.dropout = dropout
        self.supports_masking = True
        self._inner_dense = keras.layers.Dense(
            ffn_num_hiddens, activation=self.activation, dtype=self.dtype_policy, name="inner"
        )
        self._dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy, name="dropout")

    def build(self, x_shape):
        self._inner_dense.build(x_shape)
        inner_shape = (*x_shape[:-1], self.ffn_num_hiddens)
        self._dropout.build(inner_shape)
        self._outer_dense = keras.layers.Dense(x_shape[-1], dtype=self.dtype_policy, name="outer")
        self._outer_dense.build(inner_shape)

    def call(self, x, training=None):
        return self._outer_dense(self._dropout(self._inner_dense(x), training=training))

    def compute_output_shape(self, x_shape):
        return x_shape

    def get_config(self):
        return {
            **super().get_config(),
            "ffn_num_hiddens": self.ffn_num_hiddens,
            "activation": keras.activations.serialize(self.activation),
            "dropout": self.dropout,
        }
