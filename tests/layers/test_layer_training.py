"""Every layer trains under compilers, tapes, rematerialization and strategies."""

import subprocess
import sys

import keras
import numpy as np
import pytest
from every_layer import INPUTS, KINDS, LAYERS, all_same, make, model_of, same
from keras import ops

BACKEND = keras.backend.backend()


@pytest.mark.parametrize(
    "labels", [["MultiHeadAttention"], pytest.param(LAYERS, marks=pytest.mark.slow)]
)
def test_fit_under_the_compiler_is_fit_without_for_lengths_unknown_when_traced(labels, compiles):
    before, found = None, []
    for options in ({"jit_compile": compiles}, {"run_eagerly": True}):
        model = model_of(labels, any_length=True, dropout=0.0)
        before = before or model.get_weights()
        model.set_weights(before)
        model.compile(keras.optimizers.SGD(0.1), "mse", **options)
        for length in (5, 3):
            arrays = {name: x[:, :length] for name, x in INPUTS.items()}
            targets = {label: np.ones(y.shape) for label, y in model(arrays).items()}
            model.fit(arrays, targets, verbose=0)
        found.append(model.get_weights())
    for old, new, other in zip(before, *found, strict=True):
        np.testing.assert_allclose(new, other, atol=1e-4)
        assert np.isfinite(new).all() and (new != old).any()


@pytest.mark.parametrize("name", KINDS[:3])
def test_rematerialization_changes_no_answer_and_no_gradient(name, weight_gradients):
    plain, inputs = make(name)
    plain(*inputs)
    with keras.RematScope(mode="full"):
        layer, _ = make(name)
    layer(*inputs)
    layer.set_weights(plain.get_weights())
    same(layer(*inputs), plain(*inputs))

    def gradients(each):
        return weight_gradients(each, lambda: ops.mean(each(*inputs) ** 2))

    with keras.RematScope(mode="full"):
        found = gradients(layer)
    all_same(found, gradients(plain))


@pytest.mark.skipif(BACKEND != "tensorflow", reason="a strategy of TensorFlow")
@pytest.mark.slow  # another process
def test_fit_over_two_replicas_is_fit_on_one():
    code = """
import numpy as np, keras, tensorflow as tf
import keras_attn
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
ids = np.random.default_rng(0).integers(1, 9, (4, 5))

def fitted(strategy):
    keras.utils.set_random_seed(0)
    with strategy.scope():
        encoder = keras_attn.Encoder(9, 1, num_hiddens=6, ffn_num_hiddens=7, num_heads=3)
        model = keras.Sequential([keras.Input((5,), dtype="int32"), encoder])
        model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(ids, np.ones((4, 5, 6)), batch_size=4, epochs=2, shuffle=False, verbose=0)
    return model.get_weights()

one = fitted(tf.distribute.get_strategy())
two = fitted(tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]))
print(max(abs(a - b).max() for a, b in zip(one, two)))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert float(result.stdout.split()[-1]) < 1e-5, result.stderr[-2000:]
