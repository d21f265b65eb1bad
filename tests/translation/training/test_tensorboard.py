import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.callbacks import LambdaCallback

from keras_attn.translation.training import tensorboard
from keras_attn.translation.training.tensorboard import STEPS_BETWEEN_POINTS, Curves


def points(folder):
    """`(step, value)` of each scalar in the event files of a folder, by name."""
    found = {}
    for record in tf.data.TFRecordDataset(sorted(map(str, folder.iterdir()))):
        event = tf.compat.v1.Event.FromString(record.numpy())
        for value in event.summary.value:
            number = float(tf.make_ndarray(value.tensor))
            found.setdefault(value.tag, []).append((event.step, number))
    return found


def test_a_point_now_and_then_and_after_each_epoch_at_the_step_of_the_optimizer(tmp_path):
    pytest.importorskip("tensorboard")
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.25), "mse")
    steps = STEPS_BETWEEN_POINTS + 5
    data = np.zeros((steps, 2))
    say = LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update(val_bleu=10.0 * epoch))
    callbacks = [say, Curves(tmp_path)]
    model.fit(data, data[:, :1], batch_size=1, epochs=2, callbacks=callbacks, verbose=0)
    found = points(tmp_path)
    expected = [STEPS_BETWEEN_POINTS, steps, steps + STEPS_BETWEEN_POINTS, 2 * steps]
    assert [step for step, _ in found["loss"]] == expected
    assert found["val_bleu"] == [(steps, 0), (2 * steps, 10)]
    assert {value for _, value in found["learning_rate"]} == {0.25}


def test_without_tensorboard_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(tensorboard, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="This needs `tensorboard`. Run `pip install"):
        Curves(tmp_path)
