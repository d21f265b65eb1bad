import math

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keras_attn.translation.decoding.beam_search import BUFFER_GROWTH as GROWTH
from keras_attn.translation.decoding.beam_search import LOOKAHEAD, BeamSearch, LengthPenalty
from keras_attn.translation.decoding.beams import Rows
from keras_attn.translation.decoding.candidates import CHUNK
from keras_attn.translation.decoding.constraints import FORBIDDEN_IDS, Constraints
from keras_attn.translation.decoding.greedy_search import GreedySearch
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID

V = 8
WIDE = 2 * CHUNK + 7  # several chunks, the last of them filled up
STATES = 5003  # of a model whose logits depend on all earlier tokens; enough that none recurs
FACTOR = 131
# Each test searches eagerly, because the graph of a search takes seconds to trace. Graphs are
# tested in `test_search.py`.
SEARCH = settings(max_examples=10, derandomize=True, deadline=None)


def next_state(state, token):
    return (state * FACTOR + token * 17 + 1) % STATES


def step_of(table):
    """A step whose logits are those of a state, and the state follows from all tokens said.

    It sees what its ancestors said as a decoder does: the cache holds the tokens of all hypotheses
    where they were said, `(B, 1, C, K)`. The memory holds each row's first state.
    """
    table = tf.constant(table, tf.float32)
    powers = tf.constant([pow(FACTOR, i, STATES) for i in range(4 * GROWTH)])

    def step(last, position, ancestors, cache, memory):
        at_step = (tf.range(tf.shape(cache)[2]) == position)[:, None]
        cache = tf.where(at_step, last[:, None, None], cache)
        ancestors = tf.broadcast_to(ancestors, [*last.shape, ancestors.shape[-1]])
        said = tf.gather(
            tf.transpose(cache[:, 0], [0, 2, 1]), tf.maximum(ancestors, 0), batch_dims=1
        )
        of_ancestors = tf.linalg.diag_part(said)[..., : position + 1]  # (B, K, position + 1)
        # `next_state` of one token after the other, as one sum.
        added = (of_ancestors * 17 + 1) * tf.reverse(powers[: position + 1], [0]) % STATES
        state = memory[:, None] * powers[position + 1] + tf.reduce_sum(added, axis=-1)
        return tf.gather(table, state % STATES), cache

    return step


def random_table(seed, spread=2.0, vocab_size=V):
    return np.random.default_rng(seed).normal(0, spread, (STATES, vocab_size))


def log_softmax(logits):
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())


def repeats(said, n):
    sequences = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
    return n > 0 and len(set(sequences)) < len(sequences)


def search_by_hand(
    table,
    first,
    limit,
    minimum,
    beam_size,
    alpha=1.0,
    no_repeat_ngram=0,
    allowed=None,
    offset=5.0,
    early_stopping="exact",
    forced_eos=False,
    forbidden_ids=FORBIDDEN_IDS,
):
    """The best hypotheses that a beam ends, best first.

    `allowed` maps the placeholders to whether the source has them; all of these must come.
    """

    def is_allowed(token, said, step):
        if token in forbidden_ids or repeats([*said, token], no_repeat_ngram):
            return False
        if allowed and token in allowed and (token in said or not allowed[token]):
            return False
        if token != EOS_ID:
            return step < limit
        is_complete = all(
            placeholder in said for placeholder in allowed or () if allowed[placeholder]
        )
        return step >= minimum and is_complete or step == limit

    beam, finished = [(0.0, [], next_state(first, BOS_ID))], []
    for step in range(limit + 1):
        penalty = ((offset + step + 1) / (offset + 1)) ** alpha
        is_certain = forced_eos and step == limit
        candidates = [
            (total + (0.0 if is_certain else log_prob), said, token, state)
            for total, said, state in beam
            for token, log_prob in enumerate(log_softmax(table[state]))
            if is_allowed(token, said, step)
        ]
        best = sorted(candidates, key=lambda candidate: -candidate[0])[: 2 * beam_size]
        finished += [
            (total / penalty, said) for total, said, token, _ in best[:beam_size] if token == EOS_ID
        ]
        finished = sorted(finished, key=lambda hypothesis: -hypothesis[0])[:beam_size]
        beam = [
            (total, [*said, token], next_state(state, token))
            for total, said, token, state in best
            if token != EOS_ID
        ][:beam_size]
        if len(finished) < beam_size or early_stopping == "exact":
            continue
        length = min(limit, step + 1 + LOOKAHEAD) + 1 if early_stopping == "lookahead" else step + 1
        penalty = ((offset + length) / (offset + 1)) ** alpha
        if early_stopping == "full" or beam and beam[0][0] / penalty <= finished[-1][0]:
            break
    return finished


def begin(beam_size, first, limits, minimums=None, has_placeholder=None, num_best=1, scored=True):
    """Arguments of a search: an empty cache, and the rows."""
    cache = tf.zeros([len(first), 1, 0, beam_size], tf.int32)
    if has_placeholder is None:
        has_placeholder = tf.zeros([len(first), 0], tf.bool)
    numbers = range(len(first)), limits, minimums or [0] * len(first)
    numbers = (tf.constant(row, tf.int32) for row in numbers)
    rows = (*numbers, has_placeholder, tf.constant(first), tf.constant(num_best))
    return cache, Rows(*rows, tf.constant(scored))


def beams_of(step, beam_size, alpha=1.0, offset=5.0, early_stopping="exact", **constraints):
    if beam_size == 1 and not alpha:
        return GreedySearch(step, Constraints(**constraints))
    penalty = LengthPenalty(alpha, offset)
    return BeamSearch(step, beam_size, penalty, Constraints(**constraints), early_stopping)


def search(
    rows, beam_size, static_shapes=False, has_placeholder=None, num_best=1, scored=True, **options
):
    """Best hypotheses of each row: a list of (score, tokens), best first.

    `rows` are a table, and the first state, limit and minimum of each row.
    """
    table, first, limits, *minimums = rows
    beams = beams_of(step_of(table), beam_size, **options)
    minimums = minimums[0] if minimums else None
    given = begin(beam_size, first, limits, minimums, has_placeholder, num_best, scored)
    find = beams.with_static_shapes if static_shapes else beams
    found = find(*given, *([max(limits)] if static_shapes else []))
    scores, tokens = found.scores.numpy(), found.tokens.numpy()
    return [
        [
            (scores[row, n], [token for token in tokens[row, n] if token != PAD_ID])
            for n in np.flatnonzero(np.isfinite(scores[row]))[:num_best]
        ]
        for row in range(len(scores))
    ]


def assert_equal_hypotheses(found, expected):
    assert [tokens for _, tokens in found] == [tokens for _, tokens in expected]
    # What float32 can tell of a probability near 1.
    scores = ([score for score, _ in hypotheses] for hypotheses in (found, expected))
    np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-5)


@SEARCH
@example(165, 1, 1, 0.0, 0, 5.0, V, False, ())  # a score near 0
@example(3, 4, 2, 1.0, 0, 0.5, WIDE, True, (5, 6))
@example(9, 2, 2, 2.0, 0, 5.0, V, False, ())  # a longer one overtakes those that finished
@example(3, 2, 2, 1.0, 0, 200.0, WIDE, False, ())  # powers of such logits would overflow
@given(
    seed=st.integers(0, 2**32 - 1),
    beam_size=st.integers(1, 5),
    num_best=st.integers(1, 5),
    alpha=st.sampled_from([0.0, 0.6, 1.0, 2.0]),
    no_repeat_ngram=st.sampled_from([0, 1, 2, 3]),
    sharpness=st.sampled_from([0.5, 2.0, 5.0]),
    vocab_size=st.sampled_from([V, WIDE]),
    static_shapes=st.booleans(),
    ids=st.sampled_from([(), (4,), (5, 6)]),
)
def test_beam_equals_a_search_by_hand(
    seed, beam_size, num_best, alpha, no_repeat_ngram, sharpness, vocab_size, static_shapes, ids
):
    random = np.random.default_rng(seed)
    table = random.normal(0, sharpness, (STATES, vocab_size))
    limits = random.integers(1, 9, 12).tolist()
    minimums = [int(random.integers(0, limit + 1)) for limit in limits]
    first = random.integers(0, STATES, 12).tolist()
    num_best = min(num_best, beam_size)
    has_placeholder = tf.constant(random.random((12, len(ids))) < 0.5)
    given = ((table, first, limits, minimums), beam_size, static_shapes, has_placeholder, num_best)
    options = {"alpha": alpha, "no_repeat_ngram": no_repeat_ngram}
    found = search(*given, placeholder_ids=ids, **options)
    for row, hypotheses in enumerate(found):
        allowed = dict(zip(ids, has_placeholder[row].numpy(), strict=True))
        of_row = (first[row], limits[row], minimums[row])
        expected = search_by_hand(table, *of_row, beam_size, allowed=allowed, **options)
        assert_equal_hypotheses(hypotheses, expected[:num_best])


@pytest.mark.parametrize("static_shapes", [False, True])
def test_search_may_stop_early_with_another_penalty_and_a_forced_eos(static_shapes):
    table = random_table(8, spread=1.5)
    table[:, EOS_ID] -= 0.5
    first, limits = [3, 9, 40, 77, 5], [12, 1, 7, 30, 4]
    options = {"alpha": 1.2, "offset": 0.0, "forced_eos": True, "forbidden_ids": (PAD_ID, BOS_ID)}
    for early_stopping in ("lookahead", "heuristic", "full"):
        options["early_stopping"] = early_stopping
        found = search((table, first, limits), 3, static_shapes, num_best=3, **options)
        for row, hypotheses in enumerate(found):
            expected = search_by_hand(table, first[row], limits[row], 0, 3, **options)
            assert_equal_hypotheses(hypotheses, expected)
        assert any(UNK_ID in tokens for row in found for _, tokens in row)


def test_greedy_search_without_scores_finds_the_same():
    table = random_table(8, vocab_size=WIDE)
    for static in (False, True):
        for rules in ({}, {"no_repeat_ngram": 2, "forced_eos": True}):
            rows = (table, [1, 2, 3, 4, 5], [6, 4, 5, 1, 6], [0, 3, 0, 1, 5])
            scored, unscored = (
                search(rows, 1, static, alpha=0.0, scored=one, **rules) for one in (True, False)
            )
            assert [row[0][1] for row in unscored] == [row[0][1] for row in scored]
            assert [row[0][0] for row in unscored] != [row[0][0] for row in scored]
    rows = (table, [1, 2], [5, 5])
    for decisive in ({"beam_size": 1, "alpha": 1.0}, {"beam_size": 3, "alpha": 0.0}):
        assert search(rows, **decisive, scored=True) == search(rows, **decisive, scored=False)


def test_a_row_with_fewer_hypotheses_than_asked_for_gets_empty_ones_without_a_score():
    beams = beams_of(step_of(np.zeros((STATES, V))), 5, alpha=0.0)
    found = beams(*begin(5, [0], [1], [1], num_best=5))
    # Four tokens can be said, and after one of them the end: four hypotheses.
    said = found.tokens.numpy()[0, :, 0].tolist()
    assert sorted(said[:4]) == [4, 5, 6, 7] and said[4] == PAD_ID
    np.testing.assert_allclose(found.scores[0, :4], 2 * math.log(1 / V), rtol=1e-5)
    assert found.scores[0, 4] == -math.inf


def test_search_ends_as_soon_as_nothing_better_can_come():
    table = np.full((STATES, V), -20.0)
    table[:, EOS_ID] = 0
    for alpha in (0.0, 1.0):
        steps = []

        def step(last, position, *rest, steps=steps):
            steps.append(int(position))
            return step_of(table)(last, position, *rest)

        beams_of(step, 2, alpha=alpha)(*begin(2, [3], [500]))
        assert steps == [0]


def test_room_is_made_as_it_is_needed_and_rows_that_are_done_leave():
    table = random_table(9)
    table[:, EOS_ID] = -9  # long translations
    limits, first = [3, 2 * GROWTH + 5, GROWTH, GROWTH + 1] * 5, list(range(20))
    sizes = []
    step_of_table = step_of(table)

    def step(last, position, ancestors, cache, memory):
        sizes.append((len(last), ancestors.shape[-1]))
        return step_of_table(last, position, ancestors, cache, memory)

    found = beams_of(step, 2)(*begin(2, first, limits))
    assert {room for _, room in sizes} == {GROWTH, 2 * GROWTH, 3 * GROWTH}
    assert sizes[0][0] == 20 and sizes[-1][0] <= 5
    for row in range(20):
        _, expected = search_by_hand(table, first[row], limits[row], 0, 2)[0]
        assert [token for token in found.tokens[row, 0].numpy() if token] == expected
