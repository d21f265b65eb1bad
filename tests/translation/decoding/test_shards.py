import time

import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.decoding.shards import MIN_ROWS, in_shards

OUTPUTS = [tf.TensorSpec([], tf.string), tf.TensorSpec([2], tf.int32)]


def described(ids):
    """Text and sums of each row, as a search has them; and the number of rows of the shard."""
    sums = tf.reduce_sum(ids, axis=1)
    num_rows = tf.fill([tf.size(sums)], tf.shape(ids)[0])
    return [tf.strings.as_string(sums), tf.stack([sums, num_rows], 1)]


@pytest.mark.parametrize("num_shards", [1, 2, 3, 7])
@pytest.mark.parametrize("num_rows", [0, 1, 2, 3, 8, 17])
def test_each_row_has_its_own_outputs_in_its_place(num_rows, num_shards):
    ids = np.random.default_rng(0).integers(1, 100, [num_rows, 5]).astype(np.int32)
    search = tf.function(lambda ids, number: in_shards(described, ids, number, OUTPUTS))
    texts, numbers = search(tf.constant(ids), tf.constant(num_shards))
    assert [int(text) for text in texts.numpy()] == ids.sum(1).tolist()
    np.testing.assert_array_equal(numbers[:, 0], ids.sum(1))


@pytest.mark.parametrize(("num_rows", "rows_each"), [(8, 2), (9, 3), (40, 10), (3, 3), (1, 1)])
def test_a_batch_is_spread_evenly_and_not_too_thin(num_rows, rows_each):
    _, numbers = in_shards(described, tf.ones([num_rows, 5], tf.int32), 4, OUTPUTS)
    assert numbers[:, 1].numpy().tolist() == [rows_each] * num_rows
    assert rows_each >= min(MIN_ROWS, num_rows)


def test_neighbours_go_to_different_shards():
    def lowest(ids):
        return [tf.fill([tf.shape(ids)[0]], tf.reduce_min(ids))]

    ids = tf.range(1, 9)[:, None] * tf.ones([1, 3], tf.int32)
    (found,) = in_shards(lowest, ids, 2, [tf.TensorSpec([], tf.int32)])
    assert found.numpy().tolist() == [1, 2] * 4


def test_shards_are_computed_side_by_side():
    def slow(ids):
        def wait(rows):
            time.sleep(0.5)
            return rows

        (sums,) = tf.numpy_function(wait, [tf.reduce_sum(ids, axis=1)], [tf.int32])
        return [tf.ensure_shape(sums, [None])]

    function = tf.function(
        lambda ids: in_shards(slow, ids, 2, [tf.TensorSpec([], tf.int32)]), autograph=False
    )
    ids = tf.ones([4, 3], tf.int32)
    function(ids)
    start = time.monotonic()
    function(ids)
    assert time.monotonic() - start < 0.95
