from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.search import ANY_LENGTH, LENGTHS, Search, num_positions
from keras_attn.translation.special_ids import EOS_ID, PAD_ID, PLACEHOLDER_IDS


@pytest.fixture(scope="module")
def search(tiny_model):
    """One search for all tests: a graph for batches, and a program of XLA for a single source."""
    return Search(tiny_model, Config(max_length=40, beam_size=3))


def random_sources(lengths, seed=1):
    random = np.random.default_rng(seed)
    sources = [[*random.integers(4, 13, length).tolist(), EOS_ID] for length in lengths]
    return tf.ragged.constant(sources, tf.int32).to_tensor(PAD_ID)


def said(found, row, n=0):
    return [token for token in found.tokens.numpy()[row, n] if token != PAD_ID]


# The last are encoded in two groups.
@pytest.mark.parametrize("lengths", [[3, 1, 9, 14, 2], [14] * 80])
def test_a_source_gets_what_it_gets_in_a_large_batch(search, lengths):
    sources = random_sources(lengths)
    together = search(sources, 3)
    for row in range(0, len(lengths), len(lengths) // 3):
        alone = search(sources[row, None, : lengths[row] + 1], 3)
        assert alone.tokens.shape[:2] == alone.scores.shape == (1, 3)
        for n in range(3):
            assert said(alone, 0, n) == said(together, row, n)
        np.testing.assert_allclose(alone.scores[0], together.scores[row], rtol=1e-4)


@pytest.mark.parametrize("lengths", [[3, 1], [1, 9, 14, 20], [2, 2, 3, 3, 5]])
def test_a_few_sources_get_the_same_from_compiled_programs_and_without(search, lengths):
    sources = random_sources(lengths)
    search.compiled_length.assign(LENGTHS[1])
    compiled = search(sources, 3)
    search.compiled_length.assign(0)
    plain = search(sources, 3)
    search.compiled_length.assign(ANY_LENGTH)
    for row in range(len(lengths)):
        for n in range(3):
            assert said(compiled, row, n) == said(plain, row, n)
    np.testing.assert_allclose(compiled.scores, plain.scores, rtol=1e-4)


def test_several_sources_wait_for_no_compiler(search, monkeypatch):
    sources = random_sources([3, 1])
    monkeypatch.setattr(search, "_single", None)
    search(sources, 3)
    search.compiled_length.assign(LENGTHS[0])
    with pytest.raises(TypeError):
        search(sources, 3)
    search.compiled_length.assign(ANY_LENGTH)


def test_a_placeholder_is_said_once_and_only_if_its_source_has_it(tiny_model):
    sources = random_sources([5] * 9)
    config = Config(max_length=9, beam_size=3)
    free, ruled = (Search(tiny_model, config, ids)(sources, 3) for ids in ((), PLACEHOLDER_IDS))
    too_many = [
        max(
            said(found, row, n).count(one) - (one in sources[row].numpy())
            for row in range(len(sources))
            for n in range(3)
            for one in PLACEHOLDER_IDS
        )
        for found in (free, ruled)
    ]
    assert too_many[0] > 0 >= too_many[1]


def test_shapes_may_be_known(search):
    sources = random_sources([2] * 9)
    found = tf.function(lambda: search(sources))()
    np.testing.assert_array_equal(found.tokens[:, :, :8], search(sources).tokens[:, :, :8])


def test_no_sources_have_no_translations(search):
    for compiled_length in (ANY_LENGTH, 0):
        search.compiled_length.assign(compiled_length)
        found = search(tf.zeros([0, 5], tf.int32))
        assert found.tokens.shape[0] == found.scores.shape[0] == 0
    search.compiled_length.assign(ANY_LENGTH)


def test_only_sources_up_to_the_compiled_length_need_a_compiled_program(search, monkeypatch):
    source = random_sources([12])
    expected = search(source, 3)
    monkeypatch.setattr(search, "_single", None)  # in eager mode, only one branch is called
    search.compiled_length.assign(LENGTHS[0] - 1)
    found = search(source, 3)
    for n in range(3):
        assert said(found, 0, n) == said(expected, 0, n)
    search.compiled_length.assign(LENGTHS[0])
    with pytest.raises(TypeError):
        search(source, 3)
    search.compiled_length.assign(ANY_LENGTH)


def test_two_calls_at_once_do_not_write_into_each_other(search):
    sources = random_sources([6] * 4)
    for found in tf.function(lambda: [search(sources) for _ in range(2)])():
        np.testing.assert_array_equal(found.tokens, search(sources).tokens)


def test_threads_that_share_a_search_each_get_their_own_answer(search):
    sources = [random_sources([1, 2, 2, 9, 12], seed) for seed in range(4)]
    expected = [search(rows) for rows in sources]
    with ThreadPoolExecutor(len(sources)) as threads:
        for _ in range(3):
            for found, alone in zip(threads.map(search, sources), expected, strict=True):
                np.testing.assert_array_equal(found.tokens, alone.tokens)


def test_lengths_that_sources_are_padded_to_have_positions():
    assert LENGTHS == (16, 32, 64, 128)
    for max_length, positions in ((4, 16), (16, 17), (100, 128), (128, 129), (300, 384)):
        config = Config(max_length=max_length, batch_tokens=4096)
        assert num_positions(config) == positions
