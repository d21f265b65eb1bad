"""Learning-rate schedule."""

import keras
from keras import ops

from keras_attn.translation.config import Config

# Share of the training over which the learning rate rises (benchmarks/results/learning.md).
WARMUP_FRACTION = 1 / 12


class WarmUpStableDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Learning rate with warm-up, a stable phase, inverse square root decay and a cool-down.

    `rate(n) = peak * min(n / warmup, 1, sqrt(start / n), left / cooldown)`, with `n` counted from 1
    and `left` the remaining share of the budget. This is the schedule of Hu et al. 2024
    (arXiv:2404.06395), with the decay of Vaswani et al. 2017 (section 5.3) from step `start` on.
    With `warmup_steps` 0, the warm-up follows the budget too: `n / warmup` is
    `done / WARMUP_FRACTION`. With gradient accumulation, each batch is a step.

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
        # Shares of the budget after the step and before it, assigned before each step.
        self.done = keras.Variable(1.0, dtype="float32", trainable=False)
        self.left = keras.Variable(1.0, dtype="float32", trainable=False)

    def __call__(self, step):  # counted from 0
        number = ops.cast(step, "float32") + 1.0
        rise = number / self.warmup_steps if self.warmup_steps else self.done / WARMUP_FRACTION
        fall = self.left / self.cooldown_fraction
        decay = ops.sqrt(self.inverse_sqrt_start / number)
        return self.peak * ops.minimum(ops.minimum(rise, fall), ops.minimum(decay, 1.0))
