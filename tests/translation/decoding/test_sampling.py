import numpy as np
import pytest
import tensorflow as tf
from greedy_by_hand import greedy
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import strong

from keras_attn import RotaryEmbedding, ShawRelativePosition
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.sampling import sample_translations, truncate
from keras_attn.translation.decoding.steps import DecoderSteps
from keras_attn.translation.special_ids import EOS_ID, PAD_ID

SOURCES = tf.constant([[4, 9, EOS_ID, 0], [7, EOS_ID, 0, 0], [12, 5, 5, EOS_ID]])


def draw(
    model, seed, temperature=1.0, top_k=0, top_p=1.0, sources=SOURCES, max_length=4, beam_size=1
):
    numbers = tf.constant(temperature), tf.constant(top_k), tf.constant(top_p)
    memory = DecoderSteps(model, beam_size).encode(sources)
    config = Config(max_length=max_length)
    return sample_translations(model, memory, config, tf.constant(seed), *numbers).numpy()


@settings(deadline=None, max_examples=20, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.floats(0.01, 1.0))
def test_truncation_keeps_the_likeliest_tokens_that_reach_the_share(seed, top_k, top_p):
    logits = np.random.default_rng(seed).normal(0, 3, (4, 9)).astype(np.float32)
    kept = np.isfinite(truncate(tf.constant(logits), tf.constant(top_k), tf.constant(top_p)))
    likelihoods = tf.nn.softmax(logits.astype(np.float64)).numpy()
    for likelihood, is_kept in zip(likelihoods, kept, strict=True):
        order = np.argsort(-likelihood)
        expected, reached = set(), 0.0
        for rank, token in enumerate(order):
            if rank == 0 or (reached < top_p - 1e-6 and (top_k == 0 or rank < top_k)):
                expected.add(int(token))
            reached += likelihood[token]
        # Where a sum of float32 falls on the share itself, either is right.
        assert expected ^ set(np.flatnonzero(is_kept)) <= {int(order[min(len(expected), 8)])}


def test_one_candidate_is_greedy_search(tiny_model):
    greedily = [greedy(tiny_model, row[row != PAD_ID], 4) for row in SOURCES.numpy()]
    for settings_ in ({"top_k": 1}, {"top_p": 1e-6}, {"temperature": 1e-4}):
        drawn = draw(tiny_model, 3, **settings_)
        assert [row[row != PAD_ID].tolist() for row in drawn] == greedily


@pytest.mark.parametrize("position", [ShawRelativePosition(2), RotaryEmbedding()])
def test_the_memory_of_a_beam_search_serves_as_well(position):
    model = strong(position=position)
    np.testing.assert_array_equal(draw(model, 3, beam_size=2), draw(model, 3))


def test_the_seed_decides(tiny_model):
    first, again, *others = (draw(tiny_model, seed).tobytes() for seed in (5, 5, 1, 2))
    assert first == again and {first} != set(others)


def test_first_tokens_come_as_often_as_they_are_likely(tiny_model):
    many = tf.repeat(SOURCES[:1], 4000, axis=0)
    first = draw(tiny_model, 7, temperature=2.0, sources=many, max_length=1)[:, 0]
    logits = tiny_model((SOURCES[:1], np.array([[2]])))[0, 0].numpy() / 2.0
    logits[:3] = -np.inf
    expected = tf.nn.softmax(logits).numpy()
    # A translation that ends at once has padding in its first place.
    expected[PAD_ID], expected[EOS_ID] = expected[EOS_ID], 0
    np.testing.assert_allclose(np.bincount(first, minlength=11) / 4000, expected, atol=0.03)
