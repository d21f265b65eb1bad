import pytest
import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.limits import length_limits, length_minimums


def test_limit_follows_from_the_rows_own_length():
    sources = tf.constant([1, 4, 100])
    limits = length_limits(sources, Config(max_pieces=64, max_length_ratio=2.0))
    assert limits.numpy().tolist() == [12, 18, 64]
    shorter = length_limits(sources, Config(max_pieces=64, max_length_ratio=0.5))
    assert shorter.numpy().tolist() == [10, 12, 60]
    tight = length_limits(sources, Config(max_length_ratio=1.0, max_length_extra=0))
    assert tight.numpy().tolist() == [1, 4, 100]


@pytest.mark.parametrize(
    "extremes",
    [
        {"max_length_ratio": 1e9},
        {"max_length_ratio": 1e300},
        {"max_length_extra": 10**12},
        {"max_length_ratio": 3e38, "max_length_extra": 2**31},
    ],
)
def test_limits_do_not_overflow(extremes):
    config = Config(max_pieces=64, **extremes)
    config.validate()
    assert length_limits(tf.constant([1, 4, 100]), config).numpy().tolist() == [64, 64, 64]


def test_minimum_is_a_share_of_the_source_within_the_limit():
    sources, limits = tf.constant([0, 4, 100]), tf.constant([1, 9, 64])
    half = length_minimums(sources, limits, Config(min_length_ratio=0.5))
    assert half.numpy().tolist() == [0, 2, 50]
    huge = Config(min_length_ratio=1e300, max_length_ratio=1e300)
    huge.validate()
    assert length_minimums(sources, limits, huge).numpy().tolist() == [0, 9, 64]
