"""Learning-rate schedule."""

from __future__ import annotations

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
