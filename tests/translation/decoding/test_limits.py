import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.limits import length_limits


def test_limit_follows_from_the_rows_own_length():
    sources = tf.constant([1, 4, 100])
    limits = length_limits(sources, Config(max_pieces=64, max_length_ratio=2.0))
    assert limits.numpy().tolist() == [12, 18, 64]
    shorter = length_limits(sources, Config(max_pieces=64, max_length_ratio=0.5))
    assert shorter.numpy().tolist() == [10, 12, 60]
    tight = length_limits(sources, Config(max_length_ratio=1.0, max_length_extra=0))
    assert tight.numpy().tolist() == [1, 4, 100]
