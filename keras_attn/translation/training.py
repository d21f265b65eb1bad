"""Keras `fit` within a budget of minutes, with checkpoints, so that the same command goes on."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import keras

from keras_attn.transformer import Transformer
from keras_attn.translation.batches import Batches
from keras_attn.translation.checkpoints import Reached, TrainingState, newest_first
from keras_attn.translation.config import Config
from keras_attn.translation.corpus import Example
from keras_attn.translation.objective import WarmUpStableDecay, WeightAverage
from keras_attn.translation.progress import Progress
from keras_attn.translation.tokenizer import Tokenizers
from keras_attn.translation.trainee import Trainee
from keras_attn.translation.validation import Validation

CHECKPOINT_SECONDS = 120.0
CONFIG = "config.json"
LOCK = ".lock"
# What is chosen by the machine and by the time that is left, which may be others when it goes on.
CHOSEN = (
    "precision",
    "dropout",
    "subword_alpha",
    "adam_lr_ratio",
    "warmup_steps",
    "num_encoder_layers",
    "num_decoder_layers",
)
# Batches between two looks at the weights, which hardly change meanwhile.
AVERAGE_EVERY = 8


class Run(NamedTuple):
    """How a training ended."""

    steps: int
    epochs: float
    seconds: float
    tokens_per_second: float
    validation_bleu: float
    history: list[Reached]

    def summary(self) -> str:
        """How it went, for the terminal."""
        return (
            f"Trained {self.epochs:.1f} epochs in {self.seconds / 60:.1f} minutes, "
            f"{self.tokens_per_second:,.0f} tokens/s, validation BLEU {self.validation_bleu:.1f}"
        )

    def totals(self) -> dict[str, float]:
        """All but the history."""
        return {name: value for name, value in self._asdict().items() if name != "history"}


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


@contextmanager
def _obeying_ctrl_c(saving: Saving) -> Iterator[None]:
    def obey(signum, frame):
        if saving.interrupted:  # a second Ctrl-C does not wait
            raise KeyboardInterrupt
        saving.interrupted = True

    before = signal.signal(signal.SIGINT, obey)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def chosen_so_far(folder: Path) -> dict[str, Any]:
    """What the unfinished training in a folder, if there is one, has chosen and goes on with."""
    path = folder / CONFIG
    if not path.is_file() or not newest_first(folder):
        return {}
    config = Config.load(path)
    return {name: getattr(config, name) for name in CHOSEN}


def prepare_folder(config: Config, folder: Path) -> IO:
    """Make the folder of a training, or find the unfinished one that `config` goes on with.

    Returns:
        A file that keeps other trainings out of the folder until it is closed.

    Raises:
        ValueError: If another training runs in `folder`, or an unfinished one is there with another
            configuration; names the differences.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = _lock(folder)
    path = folder / CONFIG
    if path.is_file():
        differences = Config.load(path).differences(config)
        if differences and newest_first(folder):
            raise ValueError(
                f"An unfinished training in `{folder}` was started with another configuration: "
                f"{'; '.join(differences)}. Give the earlier values to go on with it, or delete "
                "that folder to start anew."
            )
        if differences:  # it ended before anything was learnt
            for file in folder.iterdir():
                if file.is_dir():  # a checkpoint that was being written when training was killed
                    shutil.rmtree(file)
                elif file.name != LOCK:
                    file.unlink()
    config.save(path)
    return lock


def _lock(folder: Path) -> IO:
    file = (folder / LOCK).open("w")
    try:
        import fcntl  # not on Windows, where nothing is locked

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass
    except BlockingIOError as error:
        file.close()
        raise ValueError(
            f"Another training is running in `{folder}`. Wait for its end, or give another --out."
        ) from error
    return file


def _has_to_go_on(budget: Budget, state: TrainingState, config: Config) -> bool:
    if config.patience and int(state.num_worse.numpy()) >= config.patience:
        return False
    # What was never validated has no best weights: out of time, it takes a batch more, and these.
    return budget.left > 0 or float(state.best_bleu.numpy()) < 0


def fit(
    model: Transformer,
    batches: Batches,
    tokenizers: Tokenizers,
    validation: Sequence[Example],
    config: Config,
    folder: Path,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> Run:
    """Train `model` within its budget and leave it with its best averaged weights.

    Training that was interrupted goes on from the last checkpoint in `folder`.

    Args:
        model: The model, with the weights to begin with.
        batches: The training data.
        tokenizers: For the translations of the validation sentences.
        validation: Sentences whose BLEU after each epoch decides which weights are the best.
        config: Budget (`minutes` or `steps`, and `patience`), schedule and seeds.
        folder: Where checkpoints are kept.
        callbacks: Further Keras callbacks, called before what is reached is saved; after each epoch
            they are told `val_bleu`. One that sets `stop_training` ends the training.

    Returns:
        How it went.

    Raises:
        KeyboardInterrupt: On Ctrl-C, after a checkpoint was written.
        OSError: If a checkpoint cannot be written.
        ValueError: If there are checkpoints and none can be read.
    """
    model.build(((None, None), (None, None)))
    trainee = Trainee(model, config)
    average = WeightAverage(model.trainable_variables, config.average_decay)
    state = TrainingState(model, trainee.optimizer, average, trainee.step, folder)
    warnings = state.restore()

    budget = Budget(config, state, trainee.schedule)
    first_step = int(state.step.numpy())
    progress = Progress(batches, budget, start_step=first_step)
    for warning in warnings:
        progress.say(f"warning: {warning}")
    if first_step:
        progress.say(f"Going on from step {first_step}.")
    checking = Validation(model, tokenizers, validation, config, average, state, budget)
    saving = Saving(state, budget)
    all_callbacks = [
        Averaging(average, AVERAGE_EVERY),
        progress,
        checking,
        *callbacks,
        budget,
        saving,
    ]
    with _obeying_ctrl_c(saving):
        while not trainee.stop_training and _has_to_go_on(budget, state, config):
            step = int(state.step.numpy())
            epoch, done = divmod(step, batches.steps_per_epoch)
            trainee.fit(
                batches.dataset(step),
                initial_epoch=epoch,
                # After an interruption the rest of its epoch comes first, by itself.
                epochs=epoch + 1 if done else 1_000_000,
                steps_per_epoch=batches.steps_per_epoch - done,
                callbacks=all_callbacks,
                shuffle=False,  # the stream is shuffled
                verbose=0,
            )
    if saving.interrupted:  # after the last checkpoint
        raise KeyboardInterrupt
    state.use_best()
    steps = int(state.step.numpy())
    return Run(
        steps=steps,
        epochs=steps / batches.steps_per_epoch,
        seconds=budget.seconds,
        tokens_per_second=progress.tokens_per_second,
        validation_bleu=float(state.best_bleu.numpy()),
        history=state.history,
    )
