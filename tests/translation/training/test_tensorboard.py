import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.training import tensorboard
from keras_attn.translation.training.tensorboard import STEPS_BETWEEN_POINTS, Curves


def points(folder):
    """`(name, step, value)` of each scalar in the event files of a folder."""
    files = sorted(map(str, folder.iterdir()))
    for record in tf.data.TFRecordDataset(files):
        event = tf.compat.v1.Event.FromString(record.numpy())
        for value in event.summary.value:
            yield value.tag, event.step, float(tf.make_ndarray(value.tensor))


class SayBleu(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        logs["val_bleu"] = 10.0 * epoch


def test_a_point_now_and_then_and_after_each_epoch_at_the_step_of_the_optimizer(tmp_path):
    pytest.importorskip("tensorboard")
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.25), "mse")
    steps = STEPS_BETWEEN_POINTS + 5
    data = np.zeros((steps, 2))
    model.fit(
        *(data, data[:, :1]),
        batch_size=1,
        epochs=2,
        callbacks=[SayBleu(), Curves(tmp_path)],
        verbose=0,
    )
    found = list(points(tmp_path))
    expected = [STEPS_BETWEEN_POINTS, steps, steps + STEPS_BETWEEN_POINTS, 2 * steps]
    assert [step for name, step, _ in found if name == "loss"] == expected
    assert [(s, v) for name, s, v in found if name == "val_bleu"] == [(steps, 0), (2 * steps, 10)]
    assert {value for name, _, value in found if name == "learning_rate"} == {0.25}


def test_without_tensorboard_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(tensorboard, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r'pip install "keras_attn\[tensorboard\]"'):
        Curves(tmp_path)
