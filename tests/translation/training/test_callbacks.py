from types import SimpleNamespace

import tensorflow as tf

from keras_attn.translation.training.callbacks import WeightAveraging


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
