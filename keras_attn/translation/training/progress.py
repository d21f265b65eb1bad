"""Progress of training on the terminal: loss, tokens/s and remaining time."""

from __future__ import annotations

import sys
import time
from typing import Protocol

import keras

from keras_attn.translation.batching.batches import Batches

# Seconds between two updates of the line on a terminal, and between two lines of a log file.
TERMINAL_SECONDS, LOG_SECONDS = 0.5, 20.0


class Clock(Protocol):
    """Estimate of the remaining training time."""

    @property
    def seconds_left(self) -> float: ...


class Progress(keras.callbacks.Callback):
    """Callback that prints epoch, step, loss, tokens/s and remaining time on standard error.

    Args:
        batches: Training data, for the number of tokens of each step.
        clock: Estimate of the remaining time.
        start_step: Number of steps of earlier runs.

    Attributes:
        tokens_per_second: Mean number of source and target tokens per second, padding not counted.
            The first step of each epoch is not timed: it may include a validation or the tracing
            of a graph.
    """

    def __init__(self, batches: Batches, clock: Clock, start_step: int):
        super().__init__()
        self._batches = batches
        self._clock = clock
        self._step = start_step
        self._epoch = 0
        self._tokens = 0
        self._seconds = 0.0
        self._batch_start: float | None = None  # None: the next batch is not timed
        self._last_shown = time.monotonic()
        self._is_terminal = sys.stderr.isatty()

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
        if now - self._last_shown > (TERMINAL_SECONDS if self._is_terminal else LOG_SECONDS):
            self._last_shown = now
            self._show(float((logs or {}).get("loss", float("nan"))))
        if logs is not None:
            logs["tokens_per_second"] = self.tokens_per_second  # for the callbacks after this one

    def _show(self, loss: float) -> None:
        minutes, seconds = divmod(round(self._clock.seconds_left), 60)
        line = (
            f"epoch {self._epoch + 1}  step {self._step:,}  loss {loss:.3f}  "
            f"{self.tokens_per_second:,.0f} tokens/s  {minutes}:{seconds:02d} left"
        )
        end = "" if self._is_terminal else "\n"
        print(
            f"\r\033[K{line}" if self._is_terminal else line, end=end, file=sys.stderr, flush=True
        )

    def say(self, text: str) -> None:
        """Print `text` on a new line; a progress line on the terminal is cleared first."""
        clear = "\r\033[K" if self._is_terminal else ""
        print(f"{clear}{text}", file=sys.stderr, flush=True)

    def on_epoch_end(self, epoch, logs=None):
        if self._is_terminal:
            self.say("")
