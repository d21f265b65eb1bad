import gc

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

from keras_attn.translation.runtime import saved_model


def write(folder, factor, table=None):
    module = tf.Module()
    module.factor = tf.Variable(factor)
    module.table = table

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name) for name in "yx"])
    def power(y, x):
        if table:
            y += table.lookup(tf.cast(y, tf.int64))
        repeated = tf.map_fn(lambda one: one * module.factor, x)
        return {"product": repeated * y, "difference": x - y}

    tf.saved_model.save(module, str(folder), signatures={"power": power})
    return folder


def test_a_signature_maps_names_to_names_as_that_of_tensorflow_does(tmp_path):
    folder = write(tmp_path, 3.0)
    loaded = saved_model.load(folder)
    assert isinstance(loaded, saved_model.SavedModel) and float(loaded.factor) == 3.0
    ours = loaded.signatures["power"]
    theirs = tf.saved_model.load(str(folder)).signatures["power"]
    assert ours.structured_input_signature[1].keys() == {"x", "y"}
    for name, spec in theirs.structured_outputs.items():
        assert ours.structured_outputs[name].is_compatible_with(spec)
    inputs = {"x": tf.constant([1.0, 2.0]), "y": tf.constant([5.0, 7.0])}
    for name, value in theirs(**inputs).items():
        np.testing.assert_array_equal(ours(**inputs)[name], value)
    loaded.factor.assign(10.0)
    assert ours(**inputs)["product"].numpy().tolist() == [50.0, 140.0]
    with pytest.raises(TypeError, match="inputs: x, y. Received: x."):
        ours(x=[1.0])


def test_two_versions_with_functions_of_the_same_names_do_not_mix(tmp_path):
    folders = [write(tmp_path / str(number), number) for number in (2.0, 5.0)]
    # Functions of two processes may have the same names.
    first = (folders[0] / "saved_model.pb").read_bytes()
    (folders[1] / "saved_model.pb").write_bytes(first)
    loaded = [saved_model.load(folder) for folder in folders]
    for one, expected in zip(loaded, (2.0, 5.0), strict=True):
        assert one.signatures["power"](x=[1.0], y=[1.0])["product"].numpy() == [expected]


def test_the_runtime_forgets_the_functions_of_a_model_that_is_no_longer_in_use(tmp_path):
    gc.collect()
    folder = write(tmp_path, 2.0)
    before = set(context.context().list_function_names())
    signature = saved_model.load(folder).signatures["power"]
    assert signature(x=[1.0], y=[3.0])["product"].numpy() == [6.0]  # still in use
    assert set(context.context().list_function_names()) > before
    del signature
    assert set(context.context().list_function_names()) <= before


def test_a_model_with_a_table_is_loaded_by_tensorflow(tmp_path):
    numbers = tf.lookup.KeyValueTensorInitializer(tf.constant([3], tf.int64), tf.constant([100.0]))
    loaded = saved_model.load(write(tmp_path, 1.0, tf.lookup.StaticHashTable(numbers, 0.0)))
    assert not isinstance(loaded, saved_model.SavedModel)
    assert loaded.signatures["power"](x=tf.ones(1), y=tf.constant([3.0]))["product"] == 103.0
