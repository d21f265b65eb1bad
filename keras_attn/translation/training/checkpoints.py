"""Checkpoints of a training: all it needs to go on, saved whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.evaluation.history import EpochRecord
from keras_attn.translation.training.weight_average import WeightAverage

PREFIX = "checkpoint-"  # and the step
_KEY = "{name}/{index}/.ATTRIBUTES/VARIABLE_VALUE"  # of a variable of `TrainingState`
KEPT = 2  # the last one, and the one before in case that one is damaged


def newest_first(folder: Path) -> list[Path]:
    """The checkpoints in a folder, the newest first; a file's index is written last of all."""
    found = (path.with_suffix("") for path in folder.glob(f"{PREFIX}*.index"))
    steps = {int(path.name.removeprefix(PREFIX)): path for path in found}
    return [steps[step] for step in sorted(steps, reverse=True)]


def read_weights(folder: Path, num_weights: int) -> list[np.ndarray]:
    """The averaged weights of the best epoch so far, from the newest checkpoint in a folder.

    Before the end of the first epoch, the averages as they are.

    Args:
        folder: The folder of a training, with a checkpoint in it.
        num_weights: Trainable weights of the model.

    Raises:
        ValueError: If the checkpoint cannot be read or is of another model.
    """
    path = newest_first(folder)[0]
    try:
        reader = tf.train.load_checkpoint(str(path))
        bleu = reader.get_tensor(_KEY.format(name="best", index=num_weights))
        name = "average" if bleu < 0 else "best"
        return [reader.get_tensor(_KEY.format(name=name, index=i)) for i in range(num_weights)]
    except (tf.errors.OpError, RuntimeError, ValueError) as error:
        raise ValueError(f"The checkpoint `{path}` cannot be read: {error}") from error


class TrainingState:
    """All that training needs to go on, saved and restored as one checkpoint.

    Args:
        model: The built model.
        optimizer: Its built optimizer.
        average: The moving average of its weights.
        step: Batches trained on, a TensorFlow variable.
        folder: Where the checkpoints lie.

    Attributes:
        step: Batches trained on.
        seconds: Training time, validation included.
        best_bleu: Highest validation BLEU, -1 before the first.
        best: The averaged weights that reached it last.
        num_worse: Validations since it was first reached.
    """

    # It grows by a row with each epoch.
    _HISTORY = tf.TensorShape([None, len(EpochRecord._fields)])

    def __init__(
        self,
        model: Transformer,
        optimizer: keras.optimizers.Optimizer,
        average: WeightAverage,
        step: tf.Variable,
        folder: Path,
    ):
        self.step = step
        self.seconds = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        self.best_bleu = tf.Variable(-1.0, dtype=tf.float64, trainable=False)
        self.num_worse = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._history = tf.Variable(
            tf.zeros([0, self._HISTORY[1]], tf.float64), shape=self._HISTORY, trainable=False
        )
        self.best = [tf.Variable(value, trainable=False) for value in average.values]
        self._weights = [weight.value for weight in model.trainable_variables]
        self._folder = folder
        self._damaged: set[Path] = set()
        self._checkpoint = tf.train.Checkpoint(
            model=[variable.value for variable in model.variables],
            optimizer=[variable.value for variable in optimizer.variables],
            average=[*average.values, average.num_batches],
            best=[*self.best, self.best_bleu, self.num_worse],
            position=[self.step, self.seconds, self._history],
        )

    @property
    def history(self) -> list[EpochRecord]:
        """What was reached after each epoch."""
        rows = self._history.numpy().tolist()
        return [EpochRecord(int(step), *numbers) for step, *numbers in rows]

    def remember(self, seconds: float, loss: float, bleu: float) -> None:
        """Add what was reached now to the history."""
        row = tf.constant([[self.step.numpy(), seconds, loss, bleu]], tf.float64)
        self._history.assign(tf.concat([self._history, row], axis=0))

    def save(self) -> None:
        """Write a checkpoint; the one before stays until this one is whole.

        Raises:
            OSError: If it cannot be written.
        """
        path = self._path(int(self.step.numpy()))
        before = [old for old in newest_first(self._folder) if old not in self._damaged]
        if before and before[0] == path:
            return
        # TensorFlow writes into such a folder first; that of a killed training would stay.
        for unfinished in self._folder.glob(f"{PREFIX}*_temp"):
            shutil.rmtree(unfinished)
        try:
            self._checkpoint.write(str(path))
        except tf.errors.OpError as error:
            raise OSError(
                f"A checkpoint cannot be written to `{self._folder}`: {error.message} What was "
                "saved before is whole: the same command goes on from there."
            ) from error
        for old in (*before[KEPT - 1 :], *(self._damaged - {path})):
            for file in self._folder.glob(f"{old.name}.*"):
                file.unlink()
        self._damaged.clear()

    def restore(self) -> list[str]:
        """Go on from the latest checkpoint that can be read, if there is one.

        Returns:
            A warning for each checkpoint that cannot.
        """
        warnings = []
        for path in newest_first(self._folder):
            try:
                self._checkpoint.read(str(path)).assert_consumed()
            # TensorFlow says in many ways that a file ends too early.
            except (tf.errors.OpError, AssertionError, LookupError, ValueError) as error:
                reason = f"{type(error).__name__}: {error}".splitlines()[0]  # some say nothing
                self._damaged.add(path)
                warnings.append(f"the checkpoint `{path}` is damaged and left out: {reason}")
            else:
                return warnings
        if warnings:
            raise ValueError(
                f"No checkpoint in `{self._folder}` can be read. Delete that folder to start "
                f"anew. Received: {'; '.join(warnings)}."
            )
        return warnings

    def _path(self, step: int) -> Path:
        return self._folder / f"{PREFIX}{step}"

    def keep_if_best(self, bleu: float, averages: Sequence[tf.Variable]) -> bool:
        """Keep the averaged weights if no earlier ones had a higher BLEU."""
        best_bleu = float(self.best_bleu.numpy())
        self.num_worse.assign(0 if bleu > best_bleu else self.num_worse + 1)
        if bleu < best_bleu:
            return False
        self.best_bleu.assign(bleu)
        for best, average in zip(self.best, averages, strict=True):
            best.assign(average)
        return True

    def use_best(self) -> None:
        """Give the model the best weights."""
        for weight, best in zip(self._weights, self.best, strict=True):
            weight.assign(best)
