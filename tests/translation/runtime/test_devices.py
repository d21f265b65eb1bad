import tensorflow as tf
from keras import ops

from keras_attn.translation.runtime.devices import compiled, describe, open_devices


def test_devices_are_open_afterwards():
    assert open_devices() >= len(tf.config.list_logical_devices("CPU")) >= 1


def test_cards_of_one_kind_are_counted(monkeypatch):
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [0, 1, 2])
    names = [{"device_name": "A100"}, {"device_name": "L4"}, {"device_name": "A100"}]
    monkeypatch.setattr(tf.config.experimental, "get_device_details", names.__getitem__)
    assert describe().endswith(", 2 × A100, L4")


def test_a_function_gives_what_it_gives_without_compilation():
    assert float(compiled(lambda x: ops.sum(x * x))(ops.array([3.0, 4.0]))) == 25
