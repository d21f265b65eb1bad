"""Keras callbacks of a training: its budget, its checkpoints, its averaged weights."""

from __future__ import annotations

import time

import keras

from keras_attn.translation.config import Config
from keras_attn.translation.training.checkpoints import TrainingState
from keras_attn.translation.training.schedule import WarmUpStableDecay
from keras_attn.translation.training.weight_average import WeightAverage

CHECKPOINT_SECONDS = 120.0

# Batches between two looks at the weights, which hardly change meanwhile.
AVERAGE_EVERY = 8


class Budget(keras.callbacks.Callback):
    """Knows what is left of a training: of its steps, where they are given, or of its time.

    Comes after validation, whose time counts.

    Args:
        config: Holds `steps` and `minutes`.
        state: Holds the steps and the seconds before this start.
        schedule: Is told before each batch.
    """

    def __init__(self, config: Config, state: TrainingState, schedule: WarmUpStableDecay):
        super().__init__()
        self._steps = config.steps
        self._budget = 60 * config.minutes
        self._state = state
        self._schedule = schedule
        self._step_before = self._step
        self._seconds_before = float(state.seconds.numpy())
        self._start = time.monotonic()
        self.reserve_seconds = 0.0  # what validation will take after the last batch

    @property
    def _step(self) -> int:
        return int(self._state.step.numpy())

    @property
    def seconds(self) -> float:
        """Seconds of training, those before this start among them."""
        return self._seconds_before + time.monotonic() - self._start

    @property
    def left(self) -> float:
        """The part that is left, from 1 to 0."""
        if self._steps:
            return max(0.0, 1 - self._step / self._steps)
        return max(0.0, self._budget - self.reserve_seconds - self.seconds) / self._budget

    @property
    def seconds_left(self) -> float:
        """Seconds until the budget is spent; by the speed so far if it is one of steps."""
        if not self._steps:
            return self.left * self._budget
        done = self._step - self._step_before
        return (self._steps - self._step) * (time.monotonic() - self._start) / max(1, done)

    def on_train_batch_begin(self, batch, logs=None):
        self._schedule.left.assign(self.left)

    def on_train_batch_end(self, batch, logs=None):
        if not self.left:
            self.model.stop_training = True

    def on_epoch_end(self, epoch, logs=None):
        if not self.left:  # validation took the rest
            self.model.stop_training = True


class Saving(keras.callbacks.Callback):
    """Saves a checkpoint now and then, and after each epoch; obeys a first Ctrl-C when it has.

    Comes after all callbacks that change what is saved. Between the last batch of an epoch and its
    validation nothing is saved: going on from there would leave the validation out.
    """

    def __init__(self, state: TrainingState, budget: Budget):
        super().__init__()
        self._state = state
        self._budget = budget
        self._last_save = time.monotonic()
        self.interrupted = False

    def on_train_batch_end(self, batch, logs=None):
        ends_epoch = self.model.stop_training or batch + 1 == self.params["steps"]
        is_time = time.monotonic() - self._last_save > CHECKPOINT_SECONDS
        if (self.interrupted or is_time) and not ends_epoch:
            self._save()

    def on_epoch_end(self, epoch, logs=None):
        self._save()

    def _save(self) -> None:
        self._state.seconds.assign(self._budget.seconds)
        self._state.save()
        self._last_save = time.monotonic()
        if self.interrupted:
            raise KeyboardInterrupt


class Averaging(keras.callbacks.Callback):
    """Takes the weights into their average, after each epoch and every few batches before.

    Each time all weights are read and their averages written.

    Args:
        average: The average.
        every: After so many batches.
    """

    def __init__(self, average: WeightAverage, every: int):
        super().__init__()
        self._average = average
        self._every = every

    def on_train_batch_end(self, batch, logs=None):
        if int(self.model.step.numpy()) % self._every == 0:
            self._average.update(self.model.step)

    def on_epoch_end(self, epoch, logs=None):
        self._average.update(self.model.step)
