import keras
from keras import ops

from keras_attn.training.backend import compile_update


def test_an_update_assigns_its_variables():
    one, other = keras.Variable(2.0), keras.Variable(3.0)

    def call(factor):
        one.assign(one.value * factor)
        other.assign(one.value + 1.0)

    update = compile_update(call, [one, other])
    for expected in (10.0, 50.0):
        update(ops.array(5.0))
        assert (float(one), float(other)) == (expected, expected + 1)
