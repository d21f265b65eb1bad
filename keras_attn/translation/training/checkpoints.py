"""Checkpoints: the complete state of a training by paths of variables, written atomically."""

import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops, tree

from keras_attn.layers.transformer import Transformer
from keras_attn.translation import named_weights
from keras_attn.translation.evaluation.report import EpochRecord
from keras_attn.translation.training.jax import processes
from keras_attn.translation.training.weight_average import WeightAverage, copies

PREFIX = "checkpoint-"  # followed by the step
_KEY_END = "/.ATTRIBUTES/VARIABLE_VALUE"  # suffix of the name of a variable in TensorFlow
# TensorFlow raises many types of errors for a truncated file.
_DAMAGED = (tf.errors.OpError, AssertionError, LookupError, RuntimeError, ValueError)
KEPT = 2  # checkpoints kept: the newest, and the one before in case the newest is damaged


def newest_first(folder: Path) -> list[Path]:
    """Checkpoints in a folder, newest first."""
    # TensorFlow writes the index last, so a checkpoint with an index is complete.
    found = (path.with_suffix("") for path in folder.glob(f"{PREFIX}*.index"))
    steps = {int(path.name.removeprefix(PREFIX)): path for path in found}
    return [steps[step] for step in sorted(steps, reverse=True)]


def read_weights(folder: Path) -> dict[str, np.ndarray]:
    """Averaged weights by path of the best epoch so far, from the newest checkpoint in a folder."""
    path = newest_first(folder)[0]
    try:
        values = _read(path)
        if "position/best_bleu" not in values:
            raise ValueError(
                "it has no weights by path. An older version of keras_attn wrote it: finish that "
                "training with that version, then start from the exported model."
            )
        group = "best/" if values["position/best_bleu"] >= 0 else "average/"  # in the first epoch
        return {
            name.removeprefix(group): value
            for name, value in values.items()
            if name.startswith(group)
        }
    except (tf.errors.OpError, RuntimeError, ValueError) as error:
        raise ValueError(f"The checkpoint `{path}` cannot be read: {error}") from error


def _read(path: Path) -> dict[str, np.ndarray]:
    """Values in a checkpoint by group and path, such as `best/encoder/norm/beta`."""
    reader = tf.train.load_checkpoint(str(path))
    # All of them, so that a file that is cut off is damaged wherever it ends.
    values = {key: reader.get_tensor(key) for key in reader.get_variable_to_shape_map()}
    keys = (key for key in values if key.endswith(_KEY_END))
    return {key.removesuffix(_KEY_END).replace(".S", "/"): values[key] for key in keys}


def _name_in_optimizer(path: str) -> str:
    """Name of an optimizer variable without the names of the optimizer and the model."""
    name = path.rsplit("/", 1)[-1]  # muon_1/transformer_3_encoder_norm_beta_velocity
    found = re.search(r"(?<![a-z])(encoder|decoder)_.*", name)
    return found[0] if found else name


def _in_tensorflow(variable: keras.Variable | tf.Variable) -> tf.Variable:
    """The variable itself, or a copy of a variable of another backend for TensorFlow's files."""
    held = variable.value if isinstance(variable, keras.Variable) else variable
    return held if isinstance(held, tf.Variable) else tf.Variable(ops.convert_to_numpy(held))


class TrainingState:
    """Complete state of a training, saved to and restored from one checkpoint in `folder`."""

    def __init__(
        self,
        model: Transformer,
        optimizer: keras.optimizers.Optimizer,
        average: WeightAverage,
        step: keras.Variable,
        folder: Path,
    ):
        self.step = step  # number of batches trained on
        self.seconds = tf.Variable(0.0, dtype=tf.float64, trainable=False)  # validation included
        # The highest of all validations, and the number of validations since it was first reached.
        self.best_bleu = tf.Variable(-1.0, dtype=tf.float64, trainable=False)
        self.num_worse = tf.Variable(0, dtype=tf.int64, trainable=False)
        none = tf.zeros([0, len(EpochRecord._fields)], tf.float64)  # a row for each validation
        self._history = tf.Variable(none, shape=[None, none.shape[1]], trainable=False)
        self.best = copies(average.values)  # averaged weights that reached `best_bleu` last
        self._weights = model.trainable_variables
        self._folder = folder
        self._damaged: set[Path] = set()
        trainable = list(named_weights.by_path(model.trainable_variables))
        # Saved by number: names of the states of random generators differ from model to model.
        seeds = [v for v in model.variables if all(v is not w for w in model.weights)]
        self._groups: dict[str, dict[str, Any]] = {
            "model": named_weights.by_path(model.weights),
            "seeds": {str(number): seed for number, seed in enumerate(seeds)},
            "optimizer": {_name_in_optimizer(v.path): v for v in optimizer.variables},
            "average": dict(zip(trainable, average.values, strict=True)),
            "best": dict(zip(trainable, self.best, strict=True)),
            "position": {
                "step": self.step,
                "seconds": self.seconds,
                "history": self._history,
                "num_averaged": average.num_batches,
                "best_bleu": self.best_bleu,
                "num_worse": self.num_worse,
            },
        }
        self._variables = {
            f"{group}/{name}": variable
            for group, named in self._groups.items()
            for name, variable in named.items()
        }

    @property
    def history(self) -> list[EpochRecord]:
        """Loss and BLEU of each validation, with step and training time."""
        rows = self._history.numpy().tolist()
        return [EpochRecord(int(step), *numbers) for step, *numbers in rows]

    def remember(self, seconds: float, loss: float, bleu: float) -> None:
        """Append the result of an epoch to the history."""
        row = tf.constant([[self.step.numpy(), seconds, loss, bleu]], tf.float64)
        self._history.assign(tf.concat([self._history, row], axis=0))

    def check_finite(self, loss: float) -> None:
        """Raise a ValueError if the training has diverged: a loss or weight is not finite."""
        if not math.isfinite(loss):
            reason = f"the loss is {loss:g}"
        elif all(bool(ops.all(ops.isfinite(weight.value))) for weight in self._weights):
            return
        else:
            reason = "some weights are not finite"
        kept = newest_first(self._folder)
        raise ValueError(
            f"Training diverged: after step {int(self.step.numpy()):,}, {reason}. Nothing was "
            f"exported, and `{self._folder}` keeps {kept[0].name if kept else 'no checkpoint'}. "
            "Try a lower learning rate: delete that folder, or start from it into another one, "
            f"--start-from {self._folder}."
        )

    def save(self) -> None:
        """Write a checkpoint; older checkpoints are deleted only after it is complete.

        `tf.train.CheckpointManager` would count a damaged checkpoint among those that it keeps.
        """
        path = self._folder / f"{PREFIX}{int(self.step.numpy())}"
        before = [old for old in newest_first(self._folder) if old not in self._damaged]
        if before and before[0] == path:
            return
        # TensorFlow writes to a temporary folder first. A killed training leaves one behind.
        for unfinished in self._folder.glob(f"{PREFIX}*_temp"):
            shutil.rmtree(unfinished)
        try:
            held = tree.map_structure(_in_tensorflow, self._groups)
            tf.train.Checkpoint(**held).write(str(path))
        except tf.errors.OpError as error:
            raise OSError(
                f"A checkpoint cannot be written to `{self._folder}`: {error.message}. Earlier "
                "checkpoints are intact: run the same command again to resume from the last one."
            ) from error
        for old in (*before[KEPT - 1 :], *(self._damaged - {path})):
            for file in self._folder.glob(f"{old.name}.*"):
                file.unlink()
        self._damaged.clear()

    def restore(self) -> list[str]:
        """Restore the newest readable checkpoint; returns a warning for each damaged one."""
        values, warnings = processes.broadcast_from_primary(self._newest)
        for name, value in values.items():
            self._variables[name].assign(value)
        return warnings

    def _newest(self) -> tuple[dict[str, np.ndarray], list[str]]:
        """Values of the newest readable checkpoint, none if there is none; and warnings."""
        warnings: list[str] = []
        for path in newest_first(self._folder):
            try:
                values = _read(path)
            except _DAMAGED as error:
                reason = f"{type(error).__name__}: {error}".splitlines()[0]  # may have no message
                self._damaged.add(path)
                warnings.append(f"the checkpoint `{path}` is damaged and ignored: {reason}")
                continue
            try:
                named_weights.check_paths("Variables of the checkpoint", self._variables, values)
            except ValueError as error:
                raise ValueError(
                    f"The checkpoint `{path}` belongs to another model or version of keras_attn. "
                    f"{error} Delete the folder `{self._folder}` to start again."
                ) from error
            return values, warnings
        if warnings:
            raise ValueError(
                f"No checkpoint in `{self._folder}` can be read. Delete that folder to start "
                f"again. Received: {'; '.join(warnings)}."
            )
        return {}, warnings

    def keep_if_best(self, bleu: float, averages: Sequence[keras.Variable]) -> bool:
        """Copy the averaged weights to `best` unless an earlier BLEU is higher; whether copied."""
        best_bleu = float(self.best_bleu.numpy())
        self.num_worse.assign(0 if bleu > best_bleu else self.num_worse + 1)
        if bleu < best_bleu:
            return False
        self.best_bleu.assign(bleu)
        for best, average in zip(self.best, averages, strict=True):
            best.assign(ops.copy(average))
        return True

    def is_past(self, patience: int) -> bool:
        """Whether `patience` validations had no higher BLEU; 0: never."""
        return 0 < patience <= int(self.num_worse.numpy())

    def use_best(self) -> None:
        """Copy `best` to the model."""
        for weight, best in zip(self._weights, self.best, strict=True):
            weight.assign(ops.copy(best))
