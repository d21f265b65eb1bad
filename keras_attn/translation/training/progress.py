"""Progress of training: loss, tokens/s and remaining time."""

import time

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.runtime.run_progress import RunProgress
from keras_attn.translation.training.callbacks import Budget, StepCounter


class Progress(StepCounter):
    """Callback that reports epoch, step, loss and tokens/s.

    The loss is read every `every` steps, because reading it waits for an accelerator.
    """

    def __init__(self, batches: Batches, budget: Budget, run_progress: RunProgress, every: int):
        super().__init__(every)
        self._batches = batches
        self._budget = budget
        self._run_progress = run_progress
        self._loss = ""
        self._epoch = 0
        self._tokens = 0
        self._seconds = 0.0
        self._batch_start: float | None = None  # None: the next batch is not timed

    @property
    def tokens_per_second(self) -> float:
        """Source and target tokens per second, without padding and the first step of each epoch.

        That step may include a validation or the tracing of a graph.
        """
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
        logs = {} if logs is None else logs
        details = [f"epoch {self._epoch + 1}", f"step {self.step_number:,}"]
        if self.is_turn and "loss" in logs:
            self._loss = f"loss {logs['loss']:.3f}"
        details += [self._loss] if self._loss else []
        if self._seconds:
            details.append(f"{self.tokens_per_second:,.0f} tokens/s")
        self._run_progress.update("  ".join(details), self._budget.seconds_left)
        logs["tokens_per_second"] = self.tokens_per_second  # for the callbacks after this one
