import dataclasses
import itertools

import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.beam_search import LengthPenalty
from keras_attn.translation.decoding.constraints import length_limits, length_minimums
from keras_attn.translation.decoding.search import Search
from keras_attn.translation.decoding.teacher_forcing import log_probabilities
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID

SOURCES = tf.constant([[4, 9, EOS_ID, 0], [7, EOS_ID, 0, 0], [12, 5, 5, EOS_ID]])
CONFIG = Config(max_length=20, beam_size=3, max_length_ratio=1.0, max_length_extra=3)


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


@pytest.fixture(scope="module")
def search(tiny_model):
    return Search(tiny_model, CONFIG)


def without_padding(tokens):
    return [[i for i in row if i != PAD_ID] for row in tokens.numpy().tolist()]


def found(search, prefixes, sources=SOURCES):
    """Tokens of the best hypothesis of each row, or None, and its score."""
    prefix = tf.ragged.constant(prefixes, tf.int32).to_tensor(PAD_ID)
    tokens, scores = search.with_prefix(prefix, sources)
    best = scores[:, 0].numpy()
    rows = without_padding(tokens[:, 0])
    return [row if np.isfinite(one) else None for row, one in zip(rows, best, strict=True)], best


def test_the_beginning_of_the_best_translation_leads_to_it(search):
    best = search(SOURCES)
    expected = without_padding(best.tokens[:, 0])
    for length in (0, 2):
        rows, scores = found(search, [row[:length] for row in expected])
        assert rows == expected
        np.testing.assert_allclose(scores, best.scores[:, 0], rtol=1e-4)


def test_the_best_of_all_translations_that_begin_so_is_found_with_its_whole_score(tiny_model):
    config = dataclasses.replace(CONFIG, beam_size=5, max_length_ratio=0.0)  # 3 tokens
    (row,), (score,) = found(Search(tiny_model, config), [[6]], SOURCES[:1])
    tokens = range(EOS_ID + 1, 11)
    every = [[6, *rest] for n in range(3) for rest in itertools.product(tokens, repeat=n)]
    targets = tf.ragged.constant([[*one, EOS_ID] for one in every], dtype=tf.int32).to_tensor()
    scores = log_probabilities(tiny_model, tf.repeat(SOURCES[:1], len(every), axis=0), targets)
    scores /= LengthPenalty.of(config)(tf.constant([len(one) + 1 for one in every]))
    assert row == every[int(tf.argmax(scores))]
    np.testing.assert_allclose(score, tf.reduce_max(scores), rtol=1e-3)


def test_a_prefix_may_end_is_cut_at_the_maximum_length_and_has_no_forbidden_token(search):
    prefixes = [[5] * 9, [EOS_ID], [5, EOS_ID], [5, UNK_ID], [BOS_ID], [7, 7]]
    rows, _ = found(search, prefixes, tf.tile(SOURCES, [2, 1]))
    assert rows[:5] == [[5] * 6, None, [5], None, None]
    assert rows[5][:2] == [7, 7]


def test_placeholders_come_once_and_only_if_the_source_has_them(tiny_model):
    # Placeholders 4 and 5; the first source has 4, the last has 5. No other end is possible.
    rows, _ = found(Search(tiny_model, CONFIG, (4, 5)), [[4], [4], [5, 5]])
    assert rows[0][0] == 4 and rows[0].count(4) == 1 and 5 not in rows[0]
    assert rows[1] is rows[2] is None
