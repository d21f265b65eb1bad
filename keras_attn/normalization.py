"""Normalisation of the last axis in few operations."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from keras_attn.checks import check_boolean, check_choice
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
        has_weights: Whether there are gain and offset. Defaults to True.
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

    def __init__(self, kind: str = "layer", has_weights: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.autocast = False  # half precision would round the input
        check_choice("kind", kind, ("layer", "rms"))
        self.kind = kind
        self.has_weights = check_boolean("has_weights", has_weights)
        self.supports_masking = True

    def build(self, x_shape: tuple) -> None:
        size = (x_shape[-1],)
        if not self.has_weights:
            return
        if self.kind == "rms":
            self.scale = self.add_weight(size, initializer="ones", name="scale")
        else:
            self.gamma = self.add_weight(size, initializer="ones", name="gamma")
            self.beta = self.add_weight(size, initializer="zeros", name="beta")

    def call(self, x: Any, training: bool | None = None) -> Any:
        x = self._to_float(x)
        dtype = keras.backend.result_type(x.dtype, "float32")
        # Copies: TensorFlow accepts no variables where a gradient is given.
        weights = [ops.cast(ops.copy(weight), dtype) for weight in self._trainable_variables]
        normalize = _rms_norm if self.kind == "rms" else _layer_norm
        if training and weights and normalize is _layer_norm and _is_on_tensorflow():
            normalize = _layer_norm_of_training
        return ops.cast(normalize(ops.cast(x, dtype), *weights), self.compute_dtype)

    def compute_output_shape(self, x_shape: tuple) -> tuple:
        return tuple(x_shape)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "kind": self.kind, "has_weights": self.has_weights}


def _is_on_tensorflow() -> bool:
    return keras.backend.backend() == "tensorflow"


def _rms_norm(x: Any, scale: Any = None) -> Any:
    return ops.rms_normalization(x, scale, epsilon=EPSILON)


def _layer_norm(x: Any, gamma: Any = None, beta: Any = None) -> Any:
    if not _is_on_tensorflow():
        return ops.layer_normalization(x, gamma, beta, epsilon=EPSILON)
    rows = _standardize(x)[0]
    return rows if gamma is None else rows * gamma + beta


def _standardize(x: Any) -> tuple[Any, Any]:
    """Return rows of mean 0 and variance 1, and what the centred rows were multiplied by."""
    centred = x - ops.mean(x, axis=-1, keepdims=True)
    scale = ops.rsqrt(ops.mean(ops.square(centred), axis=-1, keepdims=True) + EPSILON)
    return centred * scale, scale


@ops.custom_gradient
def _layer_norm_of_training(x: Any, gamma: Any, beta: Any) -> Any:
    """`_layer_norm` with a gradient in half as many operations as TensorFlow derives."""
    rows, scale = _standardize(x)

    def gradient(upstream: Any) -> tuple[Any, Any, Any]:
        along = upstream * rows
        axes = list(range(len(x.shape) - 1))
        of_gamma, of_beta = ops.sum(along, axis=axes), ops.sum(upstream, axis=axes)
        column = ops.expand_dims(gamma, 1) / gamma.shape[0]
        along, mean = ops.matmul(along, column), ops.matmul(upstream, column)
        return (upstream * gamma - rows * along - mean) * scale, of_gamma, of_beta

    return rows * gamma + beta, gradient
