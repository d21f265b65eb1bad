import keras
import numpy as np
import pytest
from keras import ops

from keras_attn.sizes import kept_sizes, sizes


def test_known_sizes_are_integers():
    assert tuple(sizes(ops.zeros((2, 0, 3)))) == (2, 0, 3)
    assert tuple(sizes(keras.Input((None, 3)))) == (None, None, 3)


def test_sizes_that_are_known_at_run_time_are_those_of_the_tensor(compiled):
    function = compiled(lambda x: ops.zeros(sizes(x)) + x, jit_compile=False, any_size=True)
    for shape in ((2, 3), (5, 1)):
        x = np.ones(shape, "float32")
        np.testing.assert_array_equal(function(x), x)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="sizes are known elsewhere")
def test_tensorflow_needs_two_operations_for_all_unknown_sizes():
    import tensorflow as tf

    signature = [tf.TensorSpec([None, None, None, 4], tf.float32)]
    graph = tf.function(lambda x: sizes(x)[:3], input_signature=signature).get_concrete_function()
    made = [op.type for op in graph.graph.get_operations()]
    assert sorted(set(made) - {"Placeholder", "Identity"}) == ["Shape", "Unpack"]
    assert made.count("Shape") == made.count("Unpack") == 1


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="sizes are known elsewhere")
@pytest.mark.parametrize(
    ("shape", "expected"), [([None, 3], (-1, 3)), ([2, 3], (2, 3)), ([None, 0], None)]
)
def test_one_unknown_size_is_left_to_the_reshape(shape, expected):
    import tensorflow as tf

    found = []
    signature = [tf.TensorSpec(shape, tf.float32)]
    function = tf.function(lambda x: found.append(kept_sizes(x)) or x, input_signature=signature)
    function.get_concrete_function()
    if expected is not None:
        assert tuple(found[0]) == expected
    else:  # no reshape can tell a size beside a 0
        assert not isinstance(found[0][0], int) and found[0][1] == 0
