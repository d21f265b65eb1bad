"""Normalisation, dropout and the way around, for every sub-layer of a block."""

from __future__ import annotations

import keras


@keras.saving.register_keras_serializable(package="keras_attn")
class Residual(keras.layers.Layer):
    """Adds what a sub-layer makes of its input to that input.

    `x + dropout(f(norm(x)))` with `norm_first` (Xiong et al. 2020, figure 1b), else
    `norm(x + dropout(f(x)))` (Vaswani et al. 2017, section 3.1).

    Masking: keeps the mask of its input.

    Args:
        dropout: Rate at which the sub-layer's output is dropped in training. Defaults to 0.
        norm_first: Whether the input is normalised, rather than the sum. Defaults to True.

    Call arguments:
        x: `(B, T, D)`.
        sublayer: A function from `(B, T, D)` to `(B, T, D)`, or to a tuple that starts with it.
        training: Whether dropout applies.

    Returns:
        `(B, T, D)`, or a tuple that starts with it and goes on as the sub-layer's does.

    Example:

    >>> x = keras.ops.ones((1, 2, 4))
    >>> keras.ops.convert_to_numpy(Residual()(x, sublayer=lambda y: y + 3.0))[0, 0].tolist()
    [4.0, 4.0, 4.0, 4.0]
    """

    def __init__(self, dropout=0.0, norm_first=True, **kwargs):
        super().__init__(**kwargs)
        self.dropout = dropout
        self.norm_first = norm_first
        self.supports_masking = True
        self._norm = keras.layers.LayerNormalization(
            epsilon=1e-6, dtype=self.dtype_policy, name="norm"
        )
        self._dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy, name="dropout")

    def build(self, x_shape):
        self._norm.build(x_shape)
        self._dropout.build(x_shape)

    def call(self, x, sublayer, training=None):
        made = sublayer(self._norm(x) if self.norm_first else x)
        made, *rest = made if isinstance(made, tuple) else (made,)
        total = x + self._dropout(made, training=training)
        total = total if self.norm_first else self._norm(total)
        return (total, *rest) if rest else total

    def get_config(self):
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "norm_first": self.norm_first,
        }
