"""Learning-rate schedule."""

import keras
from keras import ops

from keras_attn.translation.config import Config

# Share of the training over which the learning rate rises (benchmarks/results/learning.md).
WARMUP_FRACTION = 1 / 12


@keras.saving.register_keras_serializable(package="keras_attn")
class WarmUpStableDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Learning rate with warm-up, a stable phase, inverse square root decay and a cool-down.

    `rate(n) = peak * min(n / warmup, 1, sqrt(start / n), left / cooldown)`, with `n` counted from 1
    and `left` the remaining share of the budget. This is the schedule of Hu et al. 2024
    (arXiv:2404.06395) with a linear cool-down. From step `start` on, the rate decays with the
    inverse square root of the step as in Vaswani et al. 2017 (section 5.3). Warm-up and cool-down
    follow the budget, also if it is in minutes and the speed is not known before: with
    `warmup_steps` 0, `n / warmup` is `done / WARMUP_FRACTION`, and the rate falls over the last
    `cooldown_fraction` of the budget. With gradient accumulation, each batch is a step.

    >>> schedule = WarmUpStableDecay(peak=1.0, warmup_steps=4, cooldown_fraction=0.2)
    >>> [float(schedule(step)) for step in (0, 3, 15)]
    [0.25, 1.0, 1.0]
    >>> _ = schedule.left.assign(0.1)
    >>> float(schedule(99))
    0.5
    """

    def __init__(
        self,
        peak: float,
        warmup_steps: int,
        cooldown_fraction: float,
        inverse_sqrt_start: int = Config.inverse_sqrt_start,
    ):
        self.peak = peak
        self.warmup_steps = warmup_steps
        self.cooldown_fraction = cooldown_fraction
        self.inverse_sqrt_start = inverse_sqrt_start
        # Share of the budget that is used after the step, and share that is left before it. The
        # training loop assigns both before each step.
        self.done = keras.Variable(1.0, dtype="float32", trainable=False)
        self.left = keras.Variable(1.0, dtype="float32", trainable=False)

    def __call__(self, step):  # counted from 0
        number = ops.cast(step, "float32") + 1.0
        if self.warmup_steps:
            rise = number / self.warmup_steps
        else:
            rise = self.done / WARMUP_FRACTION
        fall = self.left / self.cooldown_fraction
        decay = ops.sqrt(self.inverse_sqrt_start / number)
        return self.peak * ops.minimum(ops.minimum(rise, fall), ops.minimum(decay, 1.0))

    def get_config(self):
        return {
            "peak": self.peak,
            "warmup_steps": self.warmup_steps,
            "cooldown_fraction": self.cooldown_fraction,
            "inverse_sqrt_start": self.inverse_sqrt_start,
        }
