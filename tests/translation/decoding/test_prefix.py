import dataclasses
import itertools

import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.beam_search import length_penalty
from keras_attn.translation.decoding.search import Search, best_translations
from keras_attn.translation.decoding.teacher_forcing import log_probabilities
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID

SOURCES = tf.constant([[4, 9, EOS_ID, 0], [7, EOS_ID, 0, 0], [12, 5, 5, EOS_ID]])
CONFIG = Config(max_pieces=20, beam_size=3, max_length_ratio=1.0, max_length_extra=3)


@pytest.fixture(scope="module")
def search(tiny_model):
    return Search(tiny_model, CONFIG)


def found(search, prefix, sources=SOURCES):
    """Tokens of the best hypothesis of each row without padding, or None, and all scores."""
    tokens, scores = search.beginning_with(tf.constant(prefix, tf.int32), sources)
    rows = [
        None if np.isinf(score) else [i for i in row if i != PAD_ID]
        for row, score in zip(tokens[:, 0].numpy().tolist(), scores[:, 0].numpy(), strict=True)
    ]
    return rows, scores.numpy()


def test_no_prefix_and_the_beginning_of_the_best_give_the_best(tiny_model, search):
    best = best_translations(tiny_model, SOURCES, CONFIG)
    expected = [[i for i in row if i != PAD_ID] for row in best.tokens[:, 0].numpy().tolist()]
    for length in (0, 2):
        prefix = best.tokens[:, 0, :length].numpy()
        rows, scores = found(search, prefix)
        assert rows == expected
        np.testing.assert_allclose(scores[:, 0], best.scores[:, 0], rtol=1e-4)


def test_the_score_is_that_of_the_whole_translation(tiny_model, search):
    prefix = [[5, 8], [10, 0], [9, 4]]  # each of its own length
    rows, scores = found(search, prefix)
    for b, row in enumerate(rows):
        begin = [i for i in prefix[b] if i]
        assert row[: len(begin)] == begin
        forced = log_probabilities(tiny_model, SOURCES[b : b + 1], tf.constant([[*row, EOS_ID]]))
        penalty = length_penalty(tf.constant(len(row) + 1), CONFIG.length_penalty)
        np.testing.assert_allclose(scores[b, 0], forced[0] / penalty, rtol=1e-3)


def test_the_best_of_all_translations_that_begin_so_is_found(tiny_model):
    config = dataclasses.replace(CONFIG, beam_size=5, max_length_ratio=0.0)  # 3 tokens
    (row,), _ = found(Search(tiny_model, config), [[6]], SOURCES[:1])
    tokens = range(EOS_ID + 1, 11)
    every = [[6, *rest] for n in range(3) for rest in itertools.product(tokens, repeat=n)]
    targets = tf.ragged.constant([[*one, EOS_ID] for one in every], dtype=tf.int32).to_tensor()
    scores = log_probabilities(tiny_model, tf.repeat(SOURCES[:1], len(every), axis=0), targets)
    lengths = tf.constant([len(one) + 1 for one in every])
    assert row == every[int(tf.argmax(scores / length_penalty(lengths, config.length_penalty)))]


def test_a_prefix_with_the_end_is_the_whole_translation(search):
    rows, _ = found(search, [[5, EOS_ID, 0], [EOS_ID, 0, 0], [7, 7, 0]])
    assert rows[:2] == [[5], []]
    assert rows[2][:2] == [7, 7]


def test_a_prefix_beyond_the_maximum_length_is_cut(search):
    rows, _ = found(search, [[5] * 9] * 3)
    assert rows == [[5] * 6, [5] * 5, [5] * 7]


def test_forbidden_tokens_have_no_continuation(search):
    rows, scores = found(search, [[5, UNK_ID], [5, 6], [BOS_ID, 0]])
    assert rows[0] is rows[2] is None and rows[1][:2] == [5, 6]
    assert np.isinf(scores[[0, 2]]).all()


def test_slots_come_once_and_only_if_the_source_has_them(tiny_model):
    # Slots 4 and 5; the first source has 4, the last has 5.
    rows, _ = found(Search(tiny_model, CONFIG, (4, 5)), [[4, 0], [4, 0], [5, 5]])
    assert rows[0][0] == 4 and rows[0].count(4) == 1 and 5 not in rows[0]
    assert rows[1] is rows[2] is None


def test_greedy_search_follows_the_prefix_with_the_likeliest_tokens(tiny_model):
    config = dataclasses.replace(CONFIG, beam_size=1)
    (row,), _ = found(Search(tiny_model, config), [[8, 5]], SOURCES[:1])
    expected = [8, 5]
    while len(expected) < 6:
        logits = tiny_model((SOURCES[:1, :3], np.array([[BOS_ID, *expected]])))[0, -1].numpy()
        logits[:EOS_ID] = -np.inf
        if (token := int(logits.argmax())) == EOS_ID:
            break
        expected.append(token)
    assert row == expected
