import tensorflow as tf

from keras_attn.translation.decoding.limits import length_limits


def test_limit_follows_from_the_rows_own_length():
    limits = length_limits(tf.constant([1, 4, 100]), max_pieces=64, ratio=2.0)
    assert limits.numpy().tolist() == [12, 18, 64]
    shorter = length_limits(tf.constant([1, 4, 100]), max_pieces=64, ratio=0.5)
    assert shorter.numpy().tolist() == [10, 12, 60]
