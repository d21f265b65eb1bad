import keras
from keras import ops

from keras_attn.translation.machine import compiled


def test_a_function_gives_what_it_gives_without_compilation():
    assert float(compiled.function(lambda x: ops.sum(x * x))(ops.array([3.0, 4.0]))) == 25


def test_an_update_assigns_its_variables():
    one, other = keras.Variable(2.0), keras.Variable(3.0)

    def call(factor):
        one.assign(one.value * factor)
        other.assign(one.value + 1.0)

    update = compiled.update(call, [one, other])
    for expected in (10.0, 50.0):
        update(ops.array(5.0))
        assert (float(one), float(other)) == (expected, expected + 1)
