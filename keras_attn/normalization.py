"""Normalisation of the last axis in few operations."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from keras_attn.checks import check_choice
from keras_attn.layer import Layer

EPSILON = 1e-6  # added to the variance or mean square


@keras.saving.register_keras_serializable(package="keras_attn")
class Normalization(Layer):
    """Layer or RMS normalisation of the last axis, computed in float32 at least.

    `(x - mean(x)) / sqrt(var(x) + 1e-6) * gamma + beta` (Ba et al. 2016, section 3) or
    `x / sqrt(mean(x^2) + 1e-6) * scale` (Zhang and Sennrich 2019, section 4). The result is that
    of the layers of Keras, in fewer passes over the tensor.

    Masking: keeps the mask of its input.

    Args:
        kind: `"layer"` or `"rms"`. Defaults to `"layer"`.
        **kwargs: Keras's own arguments.

    Call arguments:
        x: `(..., D)`.

    Returns:
        `(..., D)`.

    Raises:
        ValueError: If `kind` is unknown.

    Example:

    >>> ops.convert_to_numpy(Normalization()(ops.array([[1.0, 3.0]]))).round(3).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(self, kind: str = "layer", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.autocast = False  # half precision would round the input
        check_choice("kind", kind, ("layer", "rms"))
        self.kind = kind
        self.supports_masking = True

    def build(self, x_shape: tuple) -> None:
        size = (x_shape[-1],)
        if self.kind == "rms":
            self.scale = self.add_weight(size, initializer="ones", name="scale")
        else:
            self.gamma = self.add_weight(size, initializer="ones", name="gamma")
            self.beta = self.add_weight(size, initializer="zeros", name="beta")

    def call(self, x: Any, training: bool | None = None) -> Any:
        x = self._to_float(x)
        dtype = keras.backend.result_type(x.dtype, "float32")
        x = ops.cast(x, dtype)
        if self.kind == "rms":
            rows = ops.rms_normalization(x, ops.cast(self.scale, dtype), epsilon=EPSILON)
            return ops.cast(rows, self.compute_dtype)
        gamma, beta = ops.cast(self.gamma, dtype), ops.cast(self.beta, dtype)
        if keras.backend.backend() != "tensorflow":
            rows = ops.layer_normalization(x, gamma, beta, epsilon=EPSILON)
        elif training:
            # Copies: TensorFlow accepts no variables where a gradient is given.
            rows = _layer_norm_of_training(x, ops.copy(gamma), ops.copy(beta))
        else:
            rows = _standardize(x)[0] * gamma + beta
        return ops.cast(rows, self.compute_dtype)

    def compute_output_shape(self, x_shape: tuple) -> tuple:
        return tuple(x_shape)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "kind": self.kind}


def _standardize(x: Any) -> tuple[Any, Any]:
    """Return rows of mean 0 and variance 1, and what the centred rows were multiplied by."""
    centred = x - ops.mean(x, axis=-1, keepdims=True)
    scale = ops.rsqrt(ops.mean(ops.square(centred), axis=-1, keepdims=True) + EPSILON)
    return centred * scale, scale


@ops.custom_gradient
def _layer_norm_of_training(x: Any, gamma: Any, beta: Any) -> Any:
    """Layer normalisation; its gradient takes half the operations that TensorFlow derives."""
    rows, scale = _standardize(x)

    def gradient(upstream: Any) -> tuple[Any, Any, Any]:
        along = upstream * rows
        axes = list(range(len(x.shape) - 1))
        of_gamma, of_beta = ops.sum(along, axis=axes), ops.sum(upstream, axis=axes)
        column = ops.expand_dims(gamma, 1) / gamma.shape[0]
        along, mean = ops.matmul(along, column), ops.matmul(upstream, column)
        return (upstream * gamma - rows * along - mean) * scale, of_gamma, of_beta

    return rows * gamma + beta, gradient
