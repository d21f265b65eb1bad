"""Keras callbacks of training: budget, checkpoints, average of the weights, progress."""

import math
import time

import keras

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.config import Config
from keras_attn.translation.runtime.run_progress import RunProgress
from keras_attn.translation.training.checkpoints import TrainingState
from keras_attn.translation.training.jax import processes
from keras_attn.translation.training.schedule import WarmUpStableDecay
from keras_attn.translation.training.weight_average import WeightAverage

CHECKPOINT_SECONDS = 120.0


class StepCounter(keras.callbacks.Callback):
    """Callback that counts the steps of the model, and acts every `every` steps."""

    step_number = 0  # reading the step of the model would wait for an accelerator at each batch

    def __init__(self, every: int):
        super().__init__()
        self._every = every

    @property
    def is_turn(self) -> bool:
        return self.step_number % self._every == 0

    def on_train_begin(self, logs=None):
        self.step_number = int(self.model.step.numpy())

    def on_train_batch_end(self, batch, logs=None):
        self.step_number += 1


class Budget(StepCounter):
    """Callback that stops training when its budget is used up, and tells the schedule its share.

    Place it after `Validation`: the time of validation counts. Several processes agree on the
    minutes left every `every` batches.
    """

    def __init__(
        self, config: Config, state: TrainingState, schedule: WarmUpStableDecay, every: int
    ):
        super().__init__(1 if config.steps or processes.count() == 1 else every)
        self._steps = config.steps
        self._budget = 60 * config.minutes
        self._state = state
        self._schedule = schedule
        self.step_number = self._step_before = int(state.step.numpy())
        self._seconds_before = float(state.seconds.numpy())
        self._start = math.inf  # of this run; what is prepared before is not training
        # Seconds of the first step, which traces or compiles the graph. A resumed run is past it.
        self._first_seconds = 0.0 if self._step_before else math.inf
        self.reserve_seconds = 0.0  # for the validation after the last batch
        self._common_done, self._common_left = 0.0, 1.0  # of all processes

    @property
    def seconds(self) -> float:
        """Total training time in seconds, earlier runs included."""
        return self._seconds_before + max(0.0, time.monotonic() - self._start)

    @property
    def left(self) -> float:
        """Remaining fraction of the budget, from 1 to 0."""
        if self._steps:
            return max(0.0, 1 - self.step_number / self._steps)
        return max(0.0, self._budget - self.reserve_seconds - self.seconds) / self._budget

    @property
    def done(self) -> float:
        """Fraction of the budget after the next batch; of minutes, from the first batch on."""
        if self._steps:
            return min(1.0, (self.step_number + 1) / self._steps)
        return max(0.0, self.seconds - self._first_seconds) / self._budget

    @property
    def seconds_left(self) -> float:
        """Seconds until the budget is used up; estimated from the speed if it is in steps."""
        if not self._steps:
            return self.left * self._budget
        done = self.step_number - self._step_before
        seconds = self.seconds - self._seconds_before
        return (self._steps - self.step_number) * seconds / max(1, done)

    def is_used_up(self) -> bool:
        """Whether nothing is left, in all processes by the clock of the first."""
        shares = self.done, self.left
        if not self._steps:
            shares = processes.broadcast_from_primary(lambda: shares)
        self._common_done, self._common_left = shares
        return not self._common_left

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        # A resumed training calls `fit` twice: for the rest of the epoch, and for all others.
        self._start = min(self._start, time.monotonic())
        self.is_used_up()

    def on_train_batch_begin(self, batch, logs=None):
        self._schedule.done.assign(self._common_done)
        self._schedule.left.assign(self._common_left)

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        self._first_seconds = min(self._first_seconds, self.seconds)
        if self.is_turn and self.is_used_up():
            self.model.stop_training = True

    def on_epoch_end(self, epoch, logs=None):
        if self.is_used_up():  # validation used the rest of the budget
            self.model.stop_training = True


class TerminateOnNonFinite(StepCounter):
    """Callback that ends a training whose loss or weights are no longer finite.

    Place it first: such weights are then neither averaged, validated nor saved.
    """

    def __init__(self, state: TrainingState, every: int):
        super().__init__(every)
        self._state = state

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        if self.is_turn and not math.isfinite(logs["loss"]):
            self._state.check_finite(logs["loss"])

    def on_epoch_end(self, epoch, logs=None):
        self._state.check_finite(logs["loss"])


class Checkpointing(StepCounter):
    """Callback that saves a checkpoint every `CHECKPOINT_SECONDS` and after each epoch.

    Place it after all callbacks that change the training state. Set `interrupted`, in any process,
    to save a checkpoint soon and raise `KeyboardInterrupt`.
    """

    def __init__(self, state: TrainingState, budget: Budget, every: int):
        super().__init__(1 if processes.count() == 1 else every)
        self._state = state
        self._budget = budget
        self._last_save = time.monotonic()
        self.interrupted = False

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        if self.model.stop_training or batch + 1 == self.params["steps"]:
            return  # before the validation: a resumed training would skip it
        is_interrupted = self.is_turn and processes.any_process(self.interrupted)
        if is_interrupted or time.monotonic() - self._last_save > CHECKPOINT_SECONDS:
            self._save(logs["loss"], is_interrupted)

    def on_epoch_end(self, epoch, logs=None):
        self._save(logs["loss"], processes.any_process(self.interrupted))

    def _save(self, loss: float, is_interrupted: bool) -> None:
        self._state.check_finite(loss)
        self._state.seconds.assign(self._budget.seconds)
        if processes.is_primary():
            self._state.save()
        self._last_save = time.monotonic()
        if is_interrupted:
            raise KeyboardInterrupt


class WeightAveraging(StepCounter):
    """Callback that updates the moving average every `every` batches and after each epoch."""

    def __init__(self, average: WeightAverage, every: int):
        super().__init__(every)
        self._average = average

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        if self.is_turn:
            self._average.update(self.model.step)

    def on_epoch_end(self, epoch, logs=None):
        self._average.update(self.model.step)


class Progress(StepCounter):
    """Callback that reports epoch, step, tokens/s, and every `every` steps the loss."""

    def __init__(self, batches: Batches, budget: Budget, run_progress: RunProgress, every: int):
        super().__init__(every)
        self._batches = batches
        self._budget = budget
        self._run_progress = run_progress
        self._loss: list[str] = []  # none before the first turn
        self._epoch = self._tokens = 0
        self._seconds = 0.0
        self._batch_start: float | None = None  # None: the next batch is not timed

    @property
    def tokens_per_second(self) -> float:
        """Tokens per second without padding, and without the first step of each epoch."""
        return self._tokens / self._seconds if self._seconds else 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch
        self._batch_start = None

    def on_train_batch_end(self, batch, logs=None):
        now = time.monotonic()
        if self._batch_start is not None:
            self._tokens += self._batches.num_tokens(self.step_number)
            self._seconds += now - self._batch_start
        self._batch_start = now
        super().on_train_batch_end(batch, logs)
        if self.is_turn:
            self._loss = [f"loss {logs['loss']:.3f}"]
        details = [f"epoch {self._epoch + 1}", f"step {self.step_number:,}", *self._loss]
        if self._seconds:
            details.append(f"{self.tokens_per_second:,.0f} tokens/s")
        self._run_progress.update("  ".join(details), self._budget.seconds_left)
        logs["tokens_per_second"] = self.tokens_per_second  # for the callbacks after this one
