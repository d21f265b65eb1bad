"""Exponential moving average of the weights."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from keras_attn.training.backend import compile_update


def copies(variables: Sequence[keras.Variable]) -> list[keras.Variable]:
    """New variables with the values of others."""
    return [keras.Variable(ops.copy(one), dtype=one.dtype, trainable=False) for one in variables]


class WeightAverage:
    """Exponential moving average of weights, without bias towards the initial values.

    `average = d^k * average + (1 - d^k) * weight` with `d = min(decay, n / (n + 9))`. Here `n` is
    the number of batches at the last update and `k` the number of batches since. The decay is small
    at first, so the random initial weights are forgotten quickly.
    """

    def __init__(self, variables: Sequence[keras.Variable], decay: float):
        self._followed = list(variables)
        self._decay = decay
        self.values = copies(variables)
        self.num_batches = keras.Variable(0, dtype="int32", trainable=False)  # `n`
        variables = [*self._followed, *self.values]
        self._update = compile_update(self._move, [*variables, self.num_batches])
        self.swap = compile_update(self._exchange, variables)  # a second call restores them

    def update(self, step: Any) -> None:
        """Update the averages with the current weights, after `step` batches."""
        self._update(ops.convert_to_tensor(step, "int32"))

    def _move(self, step: Any) -> None:
        known = ops.cast(self.num_batches.value, "float32")
        more = ops.cast(step - self.num_batches.value, "float32")
        keep = ops.minimum(self._decay, known / (known + 9.0)) ** more
        for average, weight in zip(self.values, self._followed, strict=True):
            average.assign_sub((1.0 - keep) * (average.value - weight.value))
        self.num_batches.assign(step)

    def _exchange(self) -> None:
        for average, weight in zip(self.values, self._followed, strict=True):
            held = ops.copy(weight.value)
            weight.assign(average.value)
            average.assign(held)
