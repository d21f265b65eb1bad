"""What frames the steps of training: the learning-rate schedule and the averaged weights."""

from __future__ import annotations

from collections.abc import Sequence

import keras
import tensorflow as tf
from keras import ops

# Steps up to which the rate stays (benchmarks/results/learning.md).
STABLE_STEPS = 675


@keras.saving.register_keras_serializable(package="keras_attn")
class WarmUpStableDecay(keras.optimizers.schedules.LearningRateSchedule):
    """A learning rate that rises, stays, sinks in a long training, and falls to 0 at its end.

    `rate(n) = peak * min(n / warmup, 1, sqrt(675 / n), left / cool_down)`, with `n` counted from 1
    and `left` the part of the training time that is left: the schedule of Hu et al. 2024
    (arXiv:2404.06395), its fall a line, with the inverse square root of Vaswani et al. 2017
    (section 5.3) where it would stay for longer. A budget of time ends where it ends; without the
    fall the last steps would still be large ones.

    Args:
        peak: Highest learning rate, reached at the end of the warm-up.
        warmup_steps: Steps of the warm-up, at least 1; of accumulated gradients, Keras counts each
            batch.
        cool_down: Last part of the training time over which the rate falls, above 0, at most 1.

    Call arguments:
        step: Step counted from 0.

    Attributes:
        left: The part of the training time that is left, a TensorFlow variable, 1 at first; who
            trains sets it.

    Returns:
        The learning rate, a float32 scalar.

    Example:

    >>> schedule = WarmUpStableDecay(peak=1.0, warmup_steps=4, cool_down=0.2)
    >>> [float(schedule(step)) for step in (0, 3, 15)]
    [0.25, 1.0, 1.0]
    >>> schedule.left.assign(0.1)  # doctest: +ELLIPSIS
    <...>
    >>> float(schedule(99))
    0.5
    """

    def __init__(self, peak: float, warmup_steps: int, cool_down: float):
        self.peak = peak
        self.warmup_steps = warmup_steps
        self.cool_down = cool_down
        self.left = tf.Variable(1.0, trainable=False)

    def __call__(self, step):
        number = ops.cast(step, "float32") + 1.0
        rise, fall = number / self.warmup_steps, self.left / self.cool_down
        sunk = ops.sqrt(STABLE_STEPS / number)
        return self.peak * ops.minimum(ops.minimum(rise, fall), ops.minimum(sunk, 1.0))

    def get_config(self):
        return {
            "peak": self.peak,
            "warmup_steps": self.warmup_steps,
            "cool_down": self.cool_down,
        }


class WeightAverage:
    """Exponential moving average of a model's weights, free of the bias to their first values.

    `average = d^k * average + (1 - d^k) * weight` with `d = min(decay, n / (n + 9))` where the
    average knows `n` batches and `k` more have come, so that early averages forget the random
    start.

    Args:
        variables: The Keras variables to follow.
        decay: Largest `d`.

    Attributes:
        values: The averages, as TensorFlow variables.
        num_batches: `n`, a TensorFlow variable.
    """

    def __init__(self, variables: Sequence[keras.Variable], decay: float):
        self._followed = [variable.value for variable in variables]
        self._decay = decay
        self.values = [tf.Variable(value, trainable=False) for value in self._followed]
        self.num_batches = tf.Variable(0, dtype=tf.int64, trainable=False)

    @tf.function
    def update(self, step: tf.Tensor) -> None:
        """Take the weights of now, after `step` batches, into the average."""
        known = tf.cast(self.num_batches, tf.float32)
        more = tf.cast(step - self.num_batches, tf.float32)
        keep = tf.minimum(self._decay, known / (known + 9.0)) ** more
        for average, weight in zip(self.values, self._followed, strict=True):
            average.assign_sub((1.0 - keep) * (average - weight))
        self.num_batches.assign(step)

    @tf.function
    def swap(self) -> None:
        """Exchange averages and weights; a second call takes it back."""
        for average, weight in zip(self.values, self._followed, strict=True):
            held = tf.identity(weight)
            weight.assign(average)
            average.assign(held)
