"""What frames the steps of training: the learning-rate schedule and the averaged weights."""

from __future__ import annotations

from collections.abc import Sequence

import keras
import tensorflow as tf
from keras import ops


@keras.saving.register_keras_serializable(package="keras_attn")
class InverseSquareRoot(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up, then decay with the inverse square root of the step.

    `rate(n) = peak * min(n / warmup, sqrt(warmup / n))`, with `n` counted from 1; the shape of
    Vaswani et al. 2017, section 5.3, its height given by `peak`.

    Args:
        peak: Highest learning rate, reached at the end of the warm-up.
        warmup_steps: Steps of the warm-up, at least 1.

    Call arguments:
        step: Step counted from 0.

    Returns:
        The learning rate, a float32 scalar.

    Example:

    >>> schedule = InverseSquareRoot(peak=1.0, warmup_steps=4)
    >>> [round(float(schedule(step)), 2) for step in (0, 3, 15)]
    [0.25, 1.0, 0.5]
    """

    def __init__(self, peak: float, warmup_steps: int):
        self.peak = peak
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        count = ops.cast(step, "float32") + 1.0
        rise = count / self.warmup_steps
        decay = ops.sqrt(self.warmup_steps / count)
        return self.peak * ops.minimum(rise, decay)

    def get_config(self):
        return {"peak": self.peak, "warmup_steps": self.warmup_steps}


@keras.saving.register_keras_serializable(package="keras_attn")
class CoolDown(keras.optimizers.schedules.LearningRateSchedule):
    """Another schedule, that falls to 0 towards the end of the training time.

    `rate(n) * min(1, left / share)`, with `left` the part of the training time that is left. A
    budget of time ends where it ends; without the fall the last steps would still be large ones.

    Args:
        schedule: The schedule before the fall.
        share: Last part of the training time over which the rate falls, above 0, at most 1.

    Call arguments:
        step: Step counted from 0.

    Attributes:
        left: The part of the training time that is left, a TensorFlow variable, 1 at first; who
            trains sets it.

    Returns:
        The learning rate, a float32 scalar.

    Example:

    >>> schedule = CoolDown(InverseSquareRoot(peak=1.0, warmup_steps=1), share=0.2)
    >>> schedule.left.assign(0.1)  # doctest: +ELLIPSIS
    <...>
    >>> round(float(schedule(0)), 2)
    0.5
    """

    def __init__(self, schedule: keras.optimizers.schedules.LearningRateSchedule, share: float):
        self.schedule = schedule
        self.share = share
        self.left = tf.Variable(1.0, trainable=False)

    def __call__(self, step):
        return self.schedule(step) * ops.minimum(1.0, self.left / self.share)

    def get_config(self):
        return {
            "schedule": keras.saving.serialize_keras_object(self.schedule),
            "share": self.share,
        }

    @classmethod
    def from_config(cls, config):
        schedule = keras.saving.deserialize_keras_object(config["schedule"])
        return cls(schedule, config["share"])


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
