import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.limits import length_limits, length_minimums


def limits_of(**settings):
    config = Config(**settings)
    config.validate()
    return length_limits(tf.constant([1, 4, 100]), config).numpy().tolist()


def test_limit_follows_from_the_rows_own_length_without_overflow():
    assert limits_of(max_length=64, max_length_ratio=2.0) == [12, 18, 64]
    assert limits_of(max_length=64, max_length_ratio=0.5) == [10, 12, 60]
    assert limits_of(max_length_ratio=1.0, max_length_extra=0) == [1, 4, 100]
    for ratio, extra in ((1e9, 10), (1e300, 10), (2.0, 10**12), (3e38, 2**31)):
        found = limits_of(max_length=64, max_length_ratio=ratio, max_length_extra=extra)
        assert found == [64, 64, 64], (ratio, extra)


def test_minimum_is_a_share_of_the_source_within_the_limit():
    sources, limits = tf.constant([0, 4, 100]), tf.constant([1, 9, 64])
    half = length_minimums(sources, limits, Config(min_length_ratio=0.5))
    assert half.numpy().tolist() == [0, 2, 50]
    huge = Config(min_length_ratio=1e300, max_length_ratio=1e300)
    huge.validate()
    assert length_minimums(sources, limits, huge).numpy().tolist() == [0, 9, 64]
