"""Normalisation of the last axis in few operations."""

import functools
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attn.layers.checks import check_choice, check_positive_number
from keras_attn.layers.layer import Layer
from keras_attn.layers.precision import mean, precise_dtype

EPSILON = 1e-6  # default of every normalisation


@keras.saving.register_keras_serializable(package="keras_attn")
class Normalization(Layer):
    """Layer or RMS normalisation of the last axis, computed in float32 at least.

    `(x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta` (Ba et al. 2016, section 3) or
    `x / sqrt(mean(x^2) + epsilon) * scale` (Zhang and Sennrich 2019, section 4). The result is that
    of the layers of Keras, in fewer passes over the tensor.

    Masking: keeps the mask of its input.

    Args:
        kind: `"layer"` or `"rms"`. Defaults to `"layer"`.
        epsilon: Number above 0 that is added to the variance or mean square. Defaults to 1e-6.
        **kwargs: Keras's own arguments.

    Call arguments:
        x: `(..., D)`.

    Returns:
        `(..., D)`.

    Raises:
        ValueError: If `kind` is unknown, or `epsilon` is not above 0.

    Example:

    >>> ops.convert_to_numpy(Normalization()(ops.array([[1.0, 3.0]]))).round(3).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(self, kind: str = "layer", epsilon: float = EPSILON, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.autocast = False  # half precision would round the input
        check_choice("kind", kind, ("layer", "rms"))
        self.kind = kind
        self.epsilon = check_positive_number("epsilon", epsilon)
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
        dtype = precise_dtype(x.dtype)
        x = ops.cast(x, dtype)
        if self.kind == "rms":
            scale = ops.cast(self.scale, dtype)
            if dtype == "float64":  # Keras's operations on PyTorch are float32
                rows = x * ops.rsqrt(mean(ops.square(x)) + self.epsilon) * scale
            else:
                rows = ops.rms_normalization(x, scale, epsilon=self.epsilon)
            return ops.cast(rows, self.compute_dtype)
        gamma, beta = ops.cast(self.gamma, dtype), ops.cast(self.beta, dtype)
        if keras.backend.backend() != "tensorflow" and dtype == "float32":
            rows = ops.layer_normalization(x, gamma, beta, epsilon=self.epsilon)
        elif training and dtype == "float32":
            # Copies: TensorFlow accepts no variables where a gradient is given.
            rows = _layer_norm_of_training(self.epsilon)(x, ops.copy(gamma), ops.copy(beta))
        else:
            rows = _standardize(x, self.epsilon)[0] * gamma + beta
        return ops.cast(rows, self.compute_dtype)

    def compute_output_shape(self, x_shape: tuple) -> tuple:
        return tuple(x_shape)


def _standardize(x: Any, epsilon: float) -> tuple[Any, Any]:
    """Return rows of mean 0 and variance 1, and what the centred rows were multiplied by."""
    centred = x - mean(x)
    scale = ops.rsqrt(mean(ops.square(centred)) + epsilon)
    return centred * scale, scale


@functools.cache
def _layer_norm_of_training(epsilon: float) -> Callable[[Any, Any, Any], Any]:
    """Layer normalisation; its gradient takes half the operations that TensorFlow derives."""

    @ops.custom_gradient
    def layer_norm(x: Any, gamma: Any, beta: Any) -> Any:
        rows, scale = _standardize(x, epsilon)

        def gradient(upstream: Any) -> tuple[Any, Any, Any]:
            along = upstream * rows
            axes = list(range(len(x.shape) - 1))
            of_gamma, of_beta = ops.sum(along, axis=axes), ops.sum(upstream, axis=axes)
            column = ops.expand_dims(gamma, 1) / gamma.shape[0]
            along, mean = ops.matmul(along, column), ops.matmul(upstream, column)
            return (upstream * gamma - rows * along - mean) * scale, of_gamma, of_beta

        return rows * gamma + beta, gradient

    return layer_norm
