"""Keras `fit` within a budget of minutes, with checkpoints, so that the same command goes on."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import keras
import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.batches import Batches
from keras_attn.translation.config import Config
from keras_attn.translation.corpus import Example
from keras_attn.translation.objective import (
    CoolDown,
    InverseSquareRoot,
    SmoothedCrossEntropy,
    WeightAverage,
)
from keras_attn.translation.progress import Progress
from keras_attn.translation.tokenizer import Tokenizers
from keras_attn.translation.validation import Validation

CHECKPOINT_SECONDS = 120.0
CONFIG = "config.json"


class Run(NamedTuple):
    """How a training ended."""

    steps: int
    epochs: float
    seconds: float
    tokens_per_second: float
    validation_bleu: float


class TrainingState:
    """All that training needs to go on, saved and restored as one checkpoint.

    Args:
        model: The built model; `model.variables` holds its dropout seeds too.
        optimizer: Its built optimizer.
        average: The moving average of its weights.
        folder: Where the checkpoints lie.

    Attributes:
        step: Batches trained on.
        seconds: Training time, validation included.
        best_bleu: Highest validation BLEU, -1 before the first.
        best: The averaged weights that reached it.
    """

    def __init__(
        self,
        model: Transformer,
        optimizer: keras.optimizers.Optimizer,
        average: WeightAverage,
        folder: Path,
    ):
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.seconds = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        self.best_bleu = tf.Variable(-1.0, dtype=tf.float64, trainable=False)
        self.best = [tf.Variable(value, trainable=False) for value in average.values]
        self._weights = [weight.value for weight in model.trainable_variables]
        checkpoint = tf.train.Checkpoint(
            model=[variable.value for variable in model.variables],
            optimizer=[variable.value for variable in optimizer.variables],
            average=[*average.values, average.num_updates],
            best=[*self.best, self.best_bleu],
            position=[self.step, self.seconds],
        )
        self._checkpoint = checkpoint
        self._manager = tf.train.CheckpointManager(checkpoint, str(folder), max_to_keep=2)

    def save(self) -> None:
        self._manager.save(checkpoint_number=int(self.step.numpy()))

    def restore(self) -> bool:
        """Go on from the latest checkpoint, if there is one."""
        latest = self._manager.latest_checkpoint
        if latest is None:
            return False
        self._checkpoint.restore(latest).assert_consumed()
        return True

    def keep_if_best(self, bleu: float, averages: Sequence[tf.Variable]) -> bool:
        """Keep the averaged weights if no earlier ones reached this BLEU."""
        if bleu < float(self.best_bleu.numpy()):
            return False
        self.best_bleu.assign(bleu)
        for best, average in zip(self.best, averages, strict=True):
            best.assign(average)
        return True

    def use_best(self) -> None:
        """Give the model the best weights."""
        for weight, best in zip(self._weights, self.best, strict=True):
            weight.assign(best)


class Bookkeeping(keras.callbacks.Callback):
    """After each batch: average the weights, count, save now and then, stop when time is up.

    A first Ctrl-C is obeyed here, between two batches, when all that is saved fits together.
    """

    def __init__(
        self,
        state: TrainingState,
        average: WeightAverage,
        schedule: CoolDown,
        budget_seconds: float,
    ):
        super().__init__()
        self._state = state
        self._average = average
        self._schedule = schedule
        self._budget = budget_seconds
        self._seconds_before = float(state.seconds.numpy())
        self._start = self._last_save = time.monotonic()
        self.reserve_seconds = 0.0  # what validation will take after the last batch
        self.interrupted = False

    @property
    def seconds(self) -> float:
        return self._seconds_before + time.monotonic() - self._start

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._budget - self.reserve_seconds - self.seconds)

    def on_train_batch_begin(self, batch, logs=None):
        self._schedule.left.assign(self.seconds_left / self._budget)

    def on_train_batch_end(self, batch, logs=None):
        self._average.update()
        self._state.step.assign_add(1)
        if self.interrupted:
            self.save()
            raise KeyboardInterrupt
        if not self.seconds_left:
            self.model.stop_training = True
        elif time.monotonic() - self._last_save > CHECKPOINT_SECONDS:
            self.save()

    def save(self) -> None:
        self._state.seconds.assign(self.seconds)
        self._state.save()
        self._last_save = time.monotonic()


@contextmanager
def _obeying_ctrl_c(bookkeeping: Bookkeeping) -> Iterator[None]:
    def obey(signum, frame):
        if bookkeeping.interrupted:  # a second Ctrl-C does not wait
            raise KeyboardInterrupt
        bookkeeping.interrupted = True

    before = signal.signal(signal.SIGINT, obey)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def prepare_folder(config: Config, folder: Path) -> None:
    """Make the folder of a training, or find the unfinished one that `config` goes on with.

    Raises:
        ValueError: If `folder` holds a training with another configuration; names the differences.
    """
    path = folder / CONFIG
    if path.is_file():
        differences = Config.load(path).differences(config)
        if differences and tf.train.latest_checkpoint(str(folder)):
            raise ValueError(
                f"An unfinished training in `{folder}` was started with another configuration: "
                f"{'; '.join(differences)}. Give the earlier values to go on with it, or delete "
                "that folder to start anew."
            )
        if differences:  # it ended before anything was learnt
            shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    config.save(path)


def fit(
    model: Transformer,
    batches: Batches,
    tokenizers: Tokenizers,
    validation: Sequence[Example],
    config: Config,
    folder: Path,
) -> Run:
    """Train `model` for `config.minutes` and leave it with its best averaged weights.

    Training that was interrupted goes on from the last checkpoint in `folder`.

    Args:
        model: The model, new.
        batches: The training data.
        tokenizers: For the translations of the validation sentences.
        validation: Sentences whose BLEU after each epoch decides which weights are the best.
        config: Budget, schedule and seeds.
        folder: Where checkpoints are kept.

    Returns:
        How it went.

    Raises:
        KeyboardInterrupt: On Ctrl-C, after a checkpoint was written.
    """
    schedule = CoolDown(
        InverseSquareRoot(config.learning_rate, config.warmup_steps), config.cool_down
    )
    optimizer = keras.optimizers.Adam(
        schedule,
        beta_2=0.98,
        global_clipnorm=config.clip_norm,
    )
    model.compile(optimizer, SmoothedCrossEntropy(config.label_smoothing), jit_compile=False)
    model.build(((None, None), (None, None)))
    optimizer.build(model.trainable_variables)
    average = WeightAverage(model.trainable_variables, config.average_decay)
    state = TrainingState(model, optimizer, average, folder)
    resumed = state.restore()

    bookkeeping = Bookkeeping(state, average, schedule, config.minutes * 60)
    progress = Progress(batches, bookkeeping, start_step=int(state.step.numpy()))
    if resumed:
        progress.say(f"Going on from step {int(state.step.numpy())}.")
    checking = Validation(model, tokenizers, validation, config, average, state, bookkeeping)
    callbacks = [bookkeeping, progress, checking]
    with _obeying_ctrl_c(bookkeeping):
        while bookkeeping.seconds_left or not resumed and not int(state.step.numpy()):
            step = int(state.step.numpy())
            epoch, done = divmod(step, batches.steps_per_epoch)
            model.fit(
                batches.dataset(step),
                initial_epoch=epoch,
                # After an interruption the rest of its epoch comes first, by itself.
                epochs=epoch + 1 if done else 1_000_000,
                steps_per_epoch=batches.steps_per_epoch - done,
                callbacks=callbacks,
                shuffle=False,  # the stream is shuffled
                verbose=0,
            )
    if float(state.best_bleu.numpy()) < 0:
        state.keep_if_best(0.0, average.values)
    state.use_best()
    steps = int(state.step.numpy())
    return Run(
        steps=steps,
        epochs=steps / batches.steps_per_epoch,
        seconds=bookkeeping.seconds,
        tokens_per_second=progress.tokens_per_second,
        validation_bleu=float(state.best_bleu.numpy()),
    )
