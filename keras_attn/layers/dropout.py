"""Dropout that takes one random byte for each number."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="keras_attn")
class Dropout(keras.layers.Dropout):
    """Dropout layer for which random numbers cost a quarter.

    The rate is rounded to a multiple of 1/256, and the kept numbers are scaled by the rounded rate,
    so that the expected output is the input (Srivastava et al. 2014, section 4).

    Args:
        rate: Rate at which numbers are dropped, at least 0 and below 1.
        seed: Optional integer seed.
        **kwargs: Keras's own arguments.
    """

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
        self.autocast = False  # drops numbers of any dtype

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or self.rate == 0:
            return inputs
        return drop(inputs, self.rate, self.seed_generator)


def drop(x: Any, rate: float, seed: Any) -> Any:
    """Return `x` with numbers set to 0 at random and the others scaled.

    Args:
        x: Float tensor.
        rate: Rate at which numbers are dropped, rounded to a multiple of 1/256 from 1/256 to
            255/256.
        seed: `keras.random.SeedGenerator`, or an integer.
    """
    num_dropped = min(max(round(256 * rate), 1), 255)
    size = 1
    for length in ops.shape(x):
        size = size * length
    # The last size must be known: `ops.view` of Keras 3.15 fails on TensorFlow otherwise.
    words = keras.random.randint(((size + 3) // 4, 1), -(2**31), 2**31 - 1, "int32", seed)
    numbers = ops.reshape(ops.view(words, "uint8"), (-1,))[:size]
    scale = ops.cast(256 / (256 - num_dropped), x.dtype)
    kept = ops.cast(numbers >= num_dropped, x.dtype) * scale
    return x * ops.reshape(kept, ops.shape(x))
