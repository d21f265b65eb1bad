from types import SimpleNamespace

import keras
import numpy as np
import tensorflow as tf

from keras_attn.translation.training.callbacks import WeightAveraging
from keras_attn.translation.training.weight_average import WeightAverage


def test_average_follows_the_formula_and_swaps_back():
    weight = keras.Variable(np.array([2.0, -1.0], np.float32))
    average = WeightAverage([weight], decay=0.5)
    expected = np.zeros(2)
    for n in range(30):
        value = np.array([n, -n], np.float32)
        weight.assign(value)
        average.update(n + 1)
        keep = min(0.5, n / (n + 9))
        expected = keep * expected + (1 - keep) * value
    for now, kept in ((value, expected), (expected, value), (value, expected)):
        np.testing.assert_allclose(weight.value, now, rtol=1e-5)
        np.testing.assert_allclose(average.values[0], kept, rtol=1e-5)
        average.swap()


def test_average_forgets_as_much_over_batches_that_it_did_not_see():
    weight = keras.Variable(np.array([1.0], np.float32))
    seldom, often = (WeightAverage([weight], decay=0.9) for _ in range(2))
    for average in (seldom, often):
        average.update(200)  # late, where the decay is at its largest
    weight.assign([5.0])
    for step in range(201, 209):
        often.update(step)
    seldom.update(208)
    seldom.update(208)  # nothing is new
    for average in (seldom, often):
        np.testing.assert_allclose(average.values[0], [1 + 4 * (1 - 0.9**8)], rtol=1e-5)


def test_weights_are_averaged_every_few_batches_and_after_each_epoch():
    step, taken = tf.Variable(0), []
    average = SimpleNamespace(update=lambda step: taken.append(int(step.numpy())))
    averaging = WeightAveraging(average, every=3)
    averaging.set_model(SimpleNamespace(step=step))
    averaging.on_train_begin()
    for epoch in range(2):
        for batch in range(5):
            step.assign_add(1)
            averaging.on_train_batch_end(batch)
        averaging.on_epoch_end(epoch)
    assert taken == [3, 5, 6, 9, 10]
