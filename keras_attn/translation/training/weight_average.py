"""Exponential moving average of the weights."""

from __future__ import annotations

from collections.abc import Sequence

import keras
import tensorflow as tf


class WeightAverage:
    """Exponential moving average of weights, without bias towards the initial values.

    `average = d^k * average + (1 - d^k) * weight` with `d = min(decay, n / (n + 9))`. Here `n` is
    the number of batches at the last update and `k` the number of batches since. The decay is small
    at first, so the random initial weights are forgotten quickly.

    Args:
        variables: Keras variables to average.
        decay: Largest decay `d` per batch, from 0 to 1.

    Attributes:
        values: Averages, TensorFlow variables.
        num_batches: `n`, a TensorFlow variable.
    """

    def __init__(self, variables: Sequence[keras.Variable], decay: float):
        self._followed = [variable.value for variable in variables]
        self._decay = decay
        self.values = [tf.Variable(value, trainable=False) for value in self._followed]
        self.num_batches = tf.Variable(0, dtype=tf.int64, trainable=False)

    @tf.function
    def update(self, step: tf.Tensor) -> None:
        """Update the averages with the current weights, after `step` batches."""
        known = tf.cast(self.num_batches, tf.float32)
        more = tf.cast(step - self.num_batches, tf.float32)
        keep = tf.minimum(self._decay, known / (known + 9.0)) ** more
        for average, weight in zip(self.values, self._followed, strict=True):
            average.assign_sub((1.0 - keep) * (average - weight))
        self.num_batches.assign(step)

    @tf.function
    def swap(self) -> None:
        """Exchange averages and weights; a second call restores them."""
        for average, weight in zip(self.values, self._followed, strict=True):
            held = tf.identity(weight)
            weight.assign(average)
            average.assign(held)
