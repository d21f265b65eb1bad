import math

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.beam import beam_search, length_penalty
from keras_attn.translation.decoding import greedy
from keras_attn.translation.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID

V = 8
STATES = 5003  # of a model whose logits depend on all that was said; so many that none comes twice


def next_state(state, token):
    return (state * 131 + token * 17 + 1) % STATES


def step_of(table):
    """A step whose logits are those of a state, and the state follows from all tokens said."""
    table = tf.constant(table, tf.float32)

    def step(last, position, state):
        state = next_state(state, last)
        return tf.gather(table, state), state

    return step


def log_softmax(logits):
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())


def repeats(said, n):
    sequences = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
    return n > 0 and len(set(sequences)) < len(sequences)


def search_by_hand(table, first, limit, minimum, beam_size, alpha, no_repeat_ngram=0):
    """Every hypothesis that a beam ends, best first; no early stop."""
    beam, ended = [(0.0, [], next_state(first, BOS_ID))], []
    for step in range(limit + 1):
        candidates = []
        for total, said, state in beam:
            for token, log_prob in enumerate(log_softmax(table[state])):
                if token in (PAD_ID, UNK_ID, BOS_ID) or repeats([*said, token], no_repeat_ngram):
                    continue
                if step < minimum if token == EOS_ID else step == limit:
                    continue
                candidates.append((total + log_prob, said, token, state))
        candidates.sort(key=lambda candidate: -candidate[0])
        best = candidates[: 2 * beam_size]
        for total, said, token, _ in best[:beam_size]:
            if token == EOS_ID:
                ended.append((total / ((5 + len(said) + 1) / 6) ** alpha, said))
        beam = [
            (total, [*said, token], next_state(state, token))
            for total, said, token, state in best
            if token != EOS_ID
        ][:beam_size]
    return sorted(ended, key=lambda hypothesis: -hypothesis[0])


def search(table, first, limits, minimums, beam_size, **options):
    """Hypotheses of each row: a list of (score, tokens), best first."""
    states = tf.repeat(tf.constant(first), beam_size)
    found = tf.function(
        lambda: beam_search(
            step_of(table), states, tf.constant(limits), tf.constant(minimums), beam_size, **options
        )
    )()
    return [
        [
            (score, [token for token in tokens if token != PAD_ID])
            for score, tokens in zip(row_scores, row_tokens, strict=True)
            if score > -math.inf
        ]
        for row_scores, row_tokens in zip(
            found.scores.numpy().tolist(), found.tokens.numpy().tolist(), strict=True
        )
    ]


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    beam_size=st.integers(1, 5),
    num_best=st.integers(1, 5),
    alpha=st.sampled_from([0.0, 0.6, 1.0, 2.0]),
    no_repeat_ngram=st.sampled_from([0, 1, 2, 3]),
    sharpness=st.sampled_from([0.5, 2.0, 5.0]),
)
def test_beam_equals_a_search_by_hand(seed, beam_size, num_best, alpha, no_repeat_ngram, sharpness):
    random = np.random.default_rng(seed)
    table = random.normal(0, sharpness, (STATES, V))
    limits = random.integers(1, 9, 3).tolist()
    minimums = [int(random.integers(0, limit + 1)) for limit in limits]
    first = random.integers(0, STATES, 3).tolist()
    num_best = min(num_best, beam_size)
    found = search(
        table,
        first,
        limits,
        minimums,
        beam_size,
        num_best=num_best,
        alpha=alpha,
        no_repeat_ngram=no_repeat_ngram,
    )
    for row, (hypotheses, limit, minimum) in enumerate(zip(found, limits, minimums, strict=True)):
        expected = search_by_hand(
            table, first[row], limit, minimum, beam_size, alpha, no_repeat_ngram
        )[:num_best]
        assert [tokens for _, tokens in hypotheses] == [tokens for _, tokens in expected]
        np.testing.assert_allclose(
            [score for score, _ in hypotheses], [score for score, _ in expected], rtol=1e-4
        )


def test_a_beam_of_one_without_a_penalty_is_greedy_search():
    random = np.random.default_rng(3)
    table, limits = random.normal(0, 2, (STATES, V)), [9, 4, 7, 1]
    first = [1, 2, 3, 4]
    greedily = greedy(step_of(table), tf.constant(first), tf.constant(limits)).numpy().tolist()
    found = search(table, first, limits, [0] * 4, 1, alpha=0.0)
    assert [row[0][1] for row in found] == [[t for t in row if t != PAD_ID] for row in greedily]


def test_wider_beams_find_better_translations_on_average():
    means = []
    for beam_size in (1, 2, 4, 8):
        scores = []
        for seed in range(20):
            table = np.random.default_rng(seed).normal(0, 2, (STATES, V))
            found = search(table, list(range(8)), [8] * 8, [0] * 8, beam_size)
            scores += [row[0][0] for row in found]
        means.append(np.mean(scores))
    assert means == sorted(means)
    assert means[-1] > means[0]


def test_rows_do_not_depend_on_their_neighbours():
    table = np.random.default_rng(5).normal(0, 2, (STATES, V))
    limits, first = [3, 8, 5], [7, 1, 20]
    together = search(table, first, limits, [0, 2, 0], 3, num_best=3)
    for row, minimum in enumerate([0, 2, 0]):
        alone = search(table, [first[row]], [limits[row]], [minimum], 3, num_best=3)[0]
        assert [tokens for _, tokens in alone] == [tokens for _, tokens in together[row]]


def test_a_row_with_fewer_hypotheses_than_asked_for_gets_empty_ones_without_a_score():
    table = np.zeros((STATES, V))
    limits, minimums = tf.constant([1]), tf.constant([1])
    found = beam_search(
        step_of(table), tf.zeros([5], tf.int32), limits, minimums, 5, num_best=5, alpha=0.0
    )
    # Four tokens can be said, and after one of them the end: four hypotheses.
    said = found.tokens.numpy()[0, :, 0].tolist()
    assert sorted(said[:4]) == [4, 5, 6, 7] and said[4] == PAD_ID
    np.testing.assert_allclose(found.scores[0, :4], 2 * math.log(1 / V), rtol=1e-5)
    assert found.scores[0, 4] == -math.inf


def test_length_penalty_is_that_of_wu():
    np.testing.assert_allclose(length_penalty(tf.constant([1, 7]), 0.6), [1.0, 2**0.6], rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_search_ends_as_soon_as_nothing_better_can_come(alpha):
    table = np.full((STATES, V), -20.0)
    table[:, EOS_ID] = 0
    steps = []

    def step(last, position, state):
        steps.append(int(position))
        return step_of(table)(last, position, state)

    beam_search(step, tf.zeros([2], tf.int32), tf.constant([500]), tf.constant([0]), 2, alpha=alpha)
    assert steps == [0]
