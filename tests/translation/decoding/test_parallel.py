import threading

import numpy as np
import tensorflow as tf

from keras_attn.translation.decoding.parallel import MAX_POSITIONS, MIN_ROWS, in_groups, in_shards


def described(ids):
    """Text and sums of each row, as a search has them; then rows and least id of the shard."""
    sums = tf.reduce_sum(ids, axis=1)
    of_shard = (tf.fill(tf.shape(sums), one) for one in (tf.size(sums), tf.reduce_min(ids)))
    return [tf.strings.as_string(sums), tf.stack([sums, *of_shard], axis=1)]


@tf.function(input_signature=[tf.TensorSpec([None, 5], tf.int32), tf.TensorSpec([], tf.int32)])
def search(ids, num_shards):
    outputs = [tf.TensorSpec([], tf.string), tf.TensorSpec([3], tf.int32)]
    return in_shards(described, ids, num_shards, outputs)


def test_each_row_has_its_own_outputs_in_its_place():
    for num_rows in (0, 1, 2, 3, 8, 17):
        ids = np.random.default_rng(0).integers(1, 100, [num_rows, 5]).astype(np.int32)
        for num_shards in (1, 2, 3, 7):
            texts, numbers = search(ids, num_shards)
            assert [int(text) for text in texts.numpy()] == ids.sum(1).tolist()
            np.testing.assert_array_equal(numbers[:, 0], ids.sum(1))


def test_a_batch_is_spread_evenly_and_not_too_thin_and_neighbours_go_to_different_shards():
    for num_rows, rows_each in ((8, 2), (9, 3), (40, 10), (3, 3), (1, 1)):
        ids = tf.range(num_rows)[:, None] * tf.ones([1, 5], tf.int32)
        _, numbers = search(ids, 4)
        assert numbers[:, 1].numpy().tolist() == [rows_each] * num_rows
        assert rows_each >= min(MIN_ROWS, num_rows)
        if num_rows == 4 * rows_each:
            assert numbers[:, 2].numpy().tolist() == [0, 1, 2, 3] * rows_each


def test_shards_are_computed_side_by_side():
    both_compute = threading.Barrier(2)

    def wait_for_the_other(rows):
        both_compute.wait(timeout=60)  # raises if only one of them comes
        return rows

    def compute(ids):
        (sums,) = tf.numpy_function(wait_for_the_other, [tf.reduce_sum(ids, axis=1)], [tf.int32])
        return [tf.ensure_shape(sums, [None])]

    outputs = [tf.TensorSpec([], tf.int32)]
    function = tf.function(lambda ids: in_shards(compute, ids, 2, outputs), autograph=False)
    (sums,) = function(tf.ones([4, 3], tf.int32))
    assert sums.numpy().tolist() == [3] * 4


def test_each_row_of_a_group_has_its_own_outputs():
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
        return in_groups(function, (numbers, texts), MAX_POSITIONS // 3, outputs)

    for num_rows in (0, 1, 3, 7, 8):
        numbers = np.random.default_rng(0).integers(1, 9, (num_rows, 5)).astype("int32")
        texts = [f"row {i}" for i in range(num_rows)]
        sizes.clear()
        found = grouped(numbers, tf.constant(texts, tf.string))
        np.testing.assert_array_equal(found["sum"], numbers.sum(axis=1))
        np.testing.assert_array_equal(found["all"], numbers[:, None] / 2)
        assert found["text"].numpy().tolist() == [text.upper().encode() for text in texts]
        assert sizes == [min(3, max(num_rows, 1))] * max(-(-num_rows // 3), 1)
