"""Positions that are added to the input."""

from __future__ import annotations

import keras
import numpy as np
from keras import ops


@keras.saving.register_keras_serializable(package="keras_attn")
class PositionalEncoding(keras.layers.Layer):
    """Adds sines and cosines of the position to the input.

    `P[t, 2j] = sin(t / 10000^(2j/D))`, `P[t, 2j+1] = cos(t / 10000^(2j/D))`, with `t` counted
    from 0 (Vaswani et al. 2017, section 3.5). An odd `D` ends with a sine. There is no longest
    input: positions past `max_len` are computed as they are met.

    Masking: keeps the mask of its input.

    Args:
        max_len: Positions computed beforehand. Defaults to 1000.
        dropout: Rate at which the sum is dropped in training. Defaults to 0.

    Call arguments:
        x: `(B, T, D)`.
        start: Position of the first row; an integer, or a scalar tensor. Defaults to 0.
        training: Whether dropout applies.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: If `max_len` is not a positive integer.

    Example:

    >>> encoded = PositionalEncoding()(ops.zeros((1, 2, 4)))
    >>> ops.convert_to_numpy(encoded)[0].round(2).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.8399999737739563, 0.5400000214576721, 0.009999999776482582, 1.0]]
    """

    def __init__(self, max_len=1000, dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(max_len, int) or max_len < 1:
            raise ValueError(
                f"`max_len` must be a positive integer. Received: max_len={max_len!r}."
            )
        self.max_len = max_len
        self.dropout = dropout
        self.supports_masking = True
        self._dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy, name="dropout")

    def build(self, x_shape):
        size = x_shape[-1]
        # Angles in float64: in float32 those of late positions are off in the fourth digit.
        exponents = np.arange(size) // 2 * 2 / size
        self._rates = 10000.0**-exponents  # (D,)
        angles = np.arange(self.max_len)[:, None] * self._rates
        self._table = np.where(np.arange(size) % 2 == 0, np.sin(angles), np.cos(angles))
        self._dropout.build(x_shape)

    def call(self, x, start=0, training=None):
        positions = ops.arange(ops.shape(x)[1], dtype="int32") + ops.cast(start, "int32")
        rows = ops.take(
            ops.convert_to_tensor(self._table, "float32"),
            ops.minimum(positions, self.max_len - 1),
            axis=0,
        )
        is_late = positions[:, None] >= self.max_len
        rows = ops.where(is_late, self._beyond_table(positions), rows)  # (T, D)
        return self._dropout(x + ops.cast(rows, x.dtype), training=training)

    def _beyond_table(self, positions):
        rates = ops.convert_to_tensor(self._rates, "float32")
        angles = ops.cast(positions, "float32")[:, None] * rates
        is_sine = ops.arange(len(self._rates)) % 2 == 0
        return ops.where(is_sine, ops.sin(angles), ops.cos(angles))

    def compute_output_shape(self, x_shape):
        return x_shape

    def get_config(self):
        return {**super().get_config(), "max_len": self.max_len, "dropout": self.dropout}
