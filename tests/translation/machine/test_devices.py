import tensorflow as tf

from keras_attn.translation.machine.devices import open_devices


def test_devices_are_open_afterwards():
    assert open_devices() >= 1
    assert tf.config.list_logical_devices("CPU")
