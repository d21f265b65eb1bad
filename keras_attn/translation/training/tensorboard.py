"""TensorBoard callback."""

from importlib.util import find_spec
from pathlib import Path

import keras
import tensorflow as tf

from keras_attn.cli import missing

STEPS_BETWEEN_POINTS = 20


class Curves(keras.callbacks.Callback):
    """Callback that writes the logs of Keras and the learning rate for TensorBoard.

    The horizontal axis is the step of the optimizer. A resumed training adds a file to the folder.
    """

    def __init__(self, folder: Path):
        super().__init__()
        if find_spec("tensorboard") is None:
            raise ValueError(missing("tensorboard", "tensorboard"))
        self._writer = tf.summary.create_file_writer(str(folder))

    def on_train_batch_end(self, batch, logs=None):
        if (batch + 1) % STEPS_BETWEEN_POINTS == 0:
            self._write(logs)

    def on_epoch_end(self, epoch, logs=None):
        self._write(logs)
        self._writer.flush()

    def _write(self, logs: dict[str, float] | None) -> None:
        optimizer = self.model.optimizer
        with self._writer.as_default(step=int(optimizer.iterations.numpy())):
            for name, value in {**(logs or {}), "learning_rate": optimizer.learning_rate}.items():
                tf.summary.scalar(name, value)
