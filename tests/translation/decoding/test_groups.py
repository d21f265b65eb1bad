import numpy as np
import tensorflow as tf

from keras_attn.translation.decoding.groups import POSITIONS_AT_ONCE, in_groups


def test_each_row_has_its_own_outputs():
    sizes = []
    outputs = {
        "sum": tf.TensorSpec([], tf.int32),
        "all": tf.TensorSpec([1, None], tf.float32),
        "text": tf.TensorSpec([], tf.string),
    }

    def function(numbers, texts):
        tf.py_function(lambda x: sizes.append(len(x)), [numbers], [])
        return {
            "sum": tf.reduce_sum(numbers, axis=1),
            "all": tf.cast(numbers, tf.float32)[:, None] / 2,
            "text": tf.strings.upper(texts),
        }

    @tf.function(
        input_signature=[tf.TensorSpec([None, 5], tf.int32), tf.TensorSpec([None], tf.string)]
    )
    def grouped(numbers, texts):
        return in_groups(function, (numbers, texts), POSITIONS_AT_ONCE // 3, outputs)

    for num_rows in (0, 1, 3, 7, 8):
        numbers = np.random.default_rng(0).integers(1, 9, (num_rows, 5)).astype("int32")
        texts = [f"row {i}" for i in range(num_rows)]
        sizes.clear()
        found = grouped(numbers, tf.constant(texts, tf.string))
        np.testing.assert_array_equal(found["sum"], numbers.sum(axis=1))
        np.testing.assert_array_equal(found["all"], numbers[:, None] / 2)
        assert found["text"].numpy().tolist() == [text.upper().encode() for text in texts]
        assert sizes == [min(3, max(num_rows, 1))] * max(-(-num_rows // 3), 1)
