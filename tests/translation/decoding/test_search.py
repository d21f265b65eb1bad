from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf
from greedy_by_hand import greedy

from keras_attn import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.search import (
    LENGTHS,
    Search,
    best_translations,
    num_positions,
)
from keras_attn.translation.special_ids import EOS_ID, PAD_ID, SLOT_IDS

CONFIG = Config(max_pieces=40, beam_size=3)


@pytest.fixture(scope="module")
def search(tiny_model):
    """One search for all tests: a graph for batches, and a program of XLA for a single source."""
    return Search(tiny_model, CONFIG)


def random_sources(lengths, seed=1):
    random = np.random.default_rng(seed)
    batch = np.full((len(lengths), max(lengths) + 1), PAD_ID, np.int32)
    for row, length in enumerate(lengths):
        batch[row, : length + 1] = [*random.integers(4, 13, length), EOS_ID]
    return batch


def said(found, row, n=0):
    return [token for token in found.tokens.numpy()[row, n] if token != PAD_ID]


@pytest.mark.parametrize("size", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_source_gets_what_it_gets_in_a_large_batch(search, size):
    # Programs of XLA for sources of 16 and of 32 pieces.
    sources = random_sources([3, 17, 1, 9, 11, 2, 2, 14, 5])
    together = search(tf.constant(sources), 3)
    for start in range(0, len(sources), size):
        rows = sources[start : start + size]
        apart = search(tf.constant(rows[:, : (rows != PAD_ID).sum(1).max()]), 3)
        assert apart.tokens.shape[0] == apart.scores.shape[0] == len(rows)
        for row in range(len(rows)):
            for n in range(3):
                assert said(apart, row, n) == said(together, start + row, n)
        np.testing.assert_allclose(apart.scores, together.scores[start : start + size], rtol=1e-4)


def test_a_slot_is_said_once_and_only_if_its_source_has_it(tiny_model):
    sources = random_sources([5] * 9)
    config = Config(max_pieces=9, beam_size=3)
    free, ruled = (
        best_translations(tiny_model, tf.constant(sources), config, 3, slot_ids=ids)
        for ids in ((), SLOT_IDS)
    )
    too_many = [
        max(
            said(found, row, n).count(slot) - (slot in sources[row])
            for row in range(len(sources))
            for n in range(3)
            for slot in SLOT_IDS
        )
        for found in (free, ruled)
    ]
    assert too_many[0] > 0 >= too_many[1]


@pytest.mark.parametrize("lengths", [[1, 2, 2, 14], [14, 2, 1, 9], [14] * 80])
def test_rows_that_are_encoded_at_once_come_in_any_order(search, lengths):
    sources = random_sources(lengths)
    found = search(tf.constant(sources))
    for row in range(0, len(sources), 3 if len(sources) < 9 else 27):
        alone = search(tf.constant(sources[row, None, : lengths[row] + 1]))
        assert said(found, row) == said(alone, 0)


def test_shapes_may_be_known(search):
    sources = tf.constant(random_sources([2] * 9))
    found = tf.function(lambda: search(sources))()
    np.testing.assert_array_equal(found.tokens[:, :, :8], search(sources).tokens[:, :, :8])


def test_no_sources_have_no_translations(search):
    found = search(tf.zeros([0, 5], tf.int32))
    assert found.tokens.shape[0] == found.scores.shape[0] == 0


def test_a_beam_of_one_is_greedy_search(tiny_model):
    sources = random_sources([5, 8, 2])
    config = Config(max_pieces=9, beam_size=1)
    found = best_translations(tiny_model, tf.constant(sources), config)
    for row, source in enumerate(sources):
        expected = greedy(tiny_model, source[source != PAD_ID], config.max_pieces)
        assert said(found, row) == expected


@pytest.mark.slow  # traces two searches into one graph
def test_two_calls_at_once_do_not_write_into_each_other():
    model = Transformer.from_sizes(13, 11, 1, 1, 12, 16, 3)
    model.build(((None, None), (None, None)))
    sources = tf.constant(random_sources([6] * 4))
    config = Config(max_pieces=9, beam_size=2)
    # With shapes that are known, what a search begins with could be one constant for all calls.
    twice = tf.function(lambda: [best_translations(model, sources, config) for _ in range(2)])
    first, second = twice()
    np.testing.assert_array_equal(first.tokens, second.tokens)
    expected = best_translations(model, sources, config)
    for row in range(4):
        assert said(first, row) == said(expected, row)


def test_threads_that_share_a_search_each_get_their_own_answer(search):
    rising = [1, 2, 2, 9, 12, 17]
    sources = [tf.constant(random_sources(rising, seed)) for seed in range(4)]
    expected = [search(rows) for rows in sources]
    with ThreadPoolExecutor(len(sources)) as threads:
        for _ in range(4):
            for found, alone in zip(threads.map(search, sources), expected, strict=True):
                np.testing.assert_array_equal(found.tokens, alone.tokens)


def test_lengths_that_sources_are_padded_to_have_positions():
    assert LENGTHS == (16, 32, 64, 128)
    for max_pieces, positions in ((4, 16), (16, 17), (100, 128), (128, 129), (300, 384)):
        config = Config(max_pieces=max_pieces, batch_tokens=4096)
        assert num_positions(config) == positions
