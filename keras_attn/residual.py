"""Normalisation, dropout and the way around, for every sub-layer of a block."""

from __future__ import annotations

import keras

from keras_attn.checks import check_boolean, check_choice, check_rate

EPSILON = 1e-6  # what normalisations add to a variance, or to a mean square


@keras.saving.register_keras_serializable(package="keras_attn")
class Residual(keras.layers.Layer):
    """Adds what a sub-layer makes of its input to that input.

    `x + dropout(f(norm(x)))` with `norm_first` (Xiong et al. 2020, figure 1b), else
    `norm(x + dropout(f(x)))` (Vaswani et al. 2017, section 3.1).

    Masking: keeps the mask of its input.

    Args:
        dropout: Rate at which the sub-layer's output is dropped in training. Defaults to 0.
        norm_first: Whether the input is normalised, rather than the sum. Defaults to True.
        norm: `"layer"` (Ba et al. 2016) or `"rms"` (Zhang and Sennrich 2019). Defaults to
            `"layer"`.

    Call arguments:
        x: `(B, T, D)`.
        sublayer: A function from `(B, T, D)` to `(B, T, D)`, or to a tuple that starts with it.
        training: Whether dropout applies.

    Returns:
        `(B, T, D)`, or a tuple that starts with it and goes on as the sub-layer's does.

    Raises:
        ValueError: If `dropout` is no rate, `norm` is unknown, or the sub-layer is no function or
            does not keep the shape.

    Example:

    >>> x = keras.ops.ones((1, 2, 4))
    >>> keras.ops.convert_to_numpy(Residual()(x, sublayer=lambda y: y + 3.0))[0, 0].tolist()
    [4.0, 4.0, 4.0, 4.0]
    """

    def __init__(self, dropout=0.0, norm_first=True, norm="layer", **kwargs):
        super().__init__(**kwargs)
        check_rate("dropout", dropout)
        check_boolean("norm_first", norm_first)
        self.dropout = dropout
        self.norm_first = norm_first
        self.norm = norm
        self.supports_masking = True
        self._norm = make_norm(norm, self.dtype_policy)
        self._dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy, name="dropout")

    def build(self, x_shape):
        self._norm.build(x_shape)
        self._dropout.build(x_shape)

    def call(self, x, sublayer, training=None):
        if not callable(sublayer):
            raise ValueError(f"`sublayer` must be a function. Received: sublayer={sublayer!r}.")
        made = sublayer(self._norm(x) if self.norm_first else x)
        made, *rest = made if isinstance(made, tuple) else (made,)
        if len(made.shape) != len(x.shape) or any(
            isinstance(a, int) and isinstance(b, int) and a != b
            for a, b in zip(made.shape, x.shape, strict=True)
        ):
            raise ValueError(
                "`sublayer` must keep the shape of its input, to be added to it. Received: "
                f"sublayer(x).shape={tuple(made.shape)}, x.shape={tuple(x.shape)}."
            )
        total = x + self._dropout(made, training=training)
        total = total if self.norm_first else self._norm(total)
        return (total, *rest) if rest else total

    def get_config(self):
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "norm_first": self.norm_first,
            "norm": self.norm,
        }


def make_norm(kind, dtype):
    """A normalisation layer of the last axis: `"layer"` or `"rms"`."""
    check_choice("norm", kind, ("layer", "rms"))
    classes = {
        "layer": keras.layers.LayerNormalization,
        "rms": keras.layers.RMSNormalization,
    }
    layer = classes[kind](epsilon=EPSILON, dtype=dtype, name="norm")
    layer.supports_masking = True
    return layer
