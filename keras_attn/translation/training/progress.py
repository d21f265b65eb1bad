"""Progress of training: loss, tokens/s and remaining time."""

from __future__ import annotations

import time

import keras

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.runtime.run_progress import RunProgress
from keras_attn.translation.training.callbacks import Budget


class Progress(keras.callbacks.Callback):
    """Callback that reports epoch, step, loss, validation BLEU and tokens/s.

    Args:
        batches: Training data, for the number of tokens of each step.
        budget: Budget of the training, for the remaining time.
        start_step: Number of steps of earlier runs.
        run_progress: Progress of the whole run.
        loss_every: Number of steps after which the loss is read again. Reading it waits for an
            accelerator.

    Attributes:
        tokens_per_second: Mean number of source and target tokens per second, padding not counted.
            The first step of each epoch is not timed: it may include a validation or the tracing
            of a graph.
    """

    def __init__(
        self,
        batches: Batches,
        budget: Budget,
        start_step: int,
        run_progress: RunProgress,
        loss_every: int,
    ):
        super().__init__()
        self._batches = batches
        self._budget = budget
        self._step = start_step
        self._run_progress = run_progress
        self._loss_every, self._loss = loss_every, ""
        self._epoch = 0
        self._tokens = 0
        self._seconds = 0.0
        self._batch_start: float | None = None  # None: the next batch is not timed

    @property
    def tokens_per_second(self) -> float:
        return self._tokens / self._seconds if self._seconds else 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch
        self._batch_start = None

    def on_train_batch_end(self, batch, logs=None):
        now = time.monotonic()
        if self._batch_start is not None:
            self._tokens += self._batches.num_tokens(self._step)
            self._seconds += now - self._batch_start
        self._batch_start = now
        self._step += 1
        logs = {} if logs is None else logs
        details = [f"epoch {self._epoch + 1}", f"step {self._step:,}"]
        if self._step % self._loss_every == 0 and "loss" in logs:
            self._loss = f"loss {logs['loss']:.3f}"
        details += [self._loss] if self._loss else []
        if self._seconds:
            details.append(f"{self.tokens_per_second:,.0f} tokens/s")
        self._run_progress.update("  ".join(details), self._budget.seconds_left)
        logs["tokens_per_second"] = self.tokens_per_second  # for the callbacks after this one
