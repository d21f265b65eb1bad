from keras import ops

from keras_attn.translation.runtime import compiled


def test_a_function_gives_what_it_gives_without_compilation():
    assert float(compiled.function(lambda x: ops.sum(x * x))(ops.array([3.0, 4.0]))) == 25
