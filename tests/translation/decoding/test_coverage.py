import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding import parallel
from keras_attn.translation.decoding.beam_search import LengthPenalty
from keras_attn.translation.decoding.beams import Hypotheses
from keras_attn.translation.decoding.coverage import Coverage
from keras_attn.translation.decoding.search import Search
from keras_attn.translation.decoding.teacher_forcing import log_probabilities
from keras_attn.translation.lexicon import FLOOR, Lexicon
from keras_attn.translation.special_ids import EOS_ID, PAD_ID

CONFIG = Config(max_length=20, beam_size=3, coverage_weight=2.0)
RANDOM = np.random.default_rng(0)
NUM_SOURCES, NUM_TARGETS = 12, 13


def make_lexicon():
    """A lexicon of a third of all pairs of pieces; source piece 12 is unknown to it."""
    pairs = np.arange(NUM_SOURCES * NUM_TARGETS).reshape(NUM_TARGETS, NUM_SOURCES)[:, EOS_ID + 1 :]
    keys = np.sort(RANDOM.choice(pairs.ravel(), 52, replace=False)).astype(np.int32)
    return Lexicon(NUM_SOURCES, keys, np.log(RANDOM.random(52) + FLOOR).astype(np.float16))


LEXICON = make_lexicon()


def table(source, tokens):
    """`log P(x | y)` of the known pieces of a source `(S,)` and a hypothesis `(L,)`: `(S, L)`."""
    known = {int(key): float(value) for key, value in zip(*LEXICON[1:], strict=True)}
    source = [x for x in source if x not in (PAD_ID, EOS_ID) and x < NUM_SOURCES]
    rows = [[known.get(y * NUM_SOURCES + x, np.log(FLOOR)) for y in tokens] for x in source]
    return np.array(rows).reshape(len(source), len(tokens))


def covered(source, tokens):
    """Coverage of one source by one hypothesis, by its formula."""
    best = table(source, [*tokens, 0]).max(axis=1)
    return best.mean() if best.size else 0.0


def explained(source, tokens):
    """Explanation of one hypothesis by one source, by its formula."""
    best = table(source, [y for y in tokens if y != PAD_ID]).max(axis=0, initial=np.log(FLOOR))
    return best.mean() if best.size else 0.0


def sources(lengths=(5, 1, 8, 3, 0, 6)):
    rows = [[*RANDOM.integers(4, 13, length).tolist(), EOS_ID] for length in lengths]
    return tf.ragged.constant(rows, tf.int32).to_tensor(PAD_ID)


@pytest.mark.parametrize("most_positions", [parallel.MAX_POSITIONS, 30])
def test_coverage_is_the_mean_of_the_best_explanations(monkeypatch, most_positions):
    monkeypatch.setattr(parallel, "MAX_POSITIONS", most_positions)
    ids, tokens = sources(), RANDOM.integers(0, NUM_TARGETS, [6, 2, 4]).astype(np.int32)
    coverage, given = Coverage(LEXICON, 1.0), (ids, tf.constant(tokens))
    for found, formula in ((coverage(*given), covered), (coverage.explained(*given), explained)):
        rows = zip(ids.numpy(), tokens, strict=True)
        expected = [[formula(x, y) for y in both] for x, both in rows]
        np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_what_covers_the_source_comes_first_unless_it_is_much_less_likely():
    lexicon = Lexicon(12, np.array([6 * 12 + 5], np.int32), np.zeros(1, np.float16))
    tokens = tf.constant([[[4, 0], [6, 4], [0, 0]]] * 2)
    scores = tf.constant([[-0.2, -1.0, -np.inf], [-0.2, -9.0, -np.inf]], tf.float32)
    source = tf.constant([[5, EOS_ID]] * 2)
    found = Coverage(lexicon, 1.0).ranked(source, Hypotheses(tokens, scores))
    assert found.tokens.numpy()[:, 0].tolist() == [[6, 4], [4, 0]]
    expected = [[-1.0, -0.2 + np.log(FLOOR), -np.inf], [-0.2 + np.log(FLOOR), -9.0, -np.inf]]
    np.testing.assert_allclose(found.scores, expected, rtol=1e-5)


def test_a_search_finds_hypotheses_in_the_order_of_probability_and_coverage(tiny_model):
    ids, penalty = sources(), LengthPenalty.of(CONFIG)
    found = Search(tiny_model, CONFIG, lexicon=LEXICON)(ids, 3)
    plain = Search(tiny_model, CONFIG)(ids, 3)
    for row, source in enumerate(ids.numpy()):
        for n in range(3):
            tokens = [token for token in found.tokens.numpy()[row, n] if token != PAD_ID]
            said = tf.constant([[*tokens, EOS_ID]])
            probability = log_probabilities(tiny_model, ids[row, None], said)[0]
            score = probability / penalty(len(tokens) + 1) + 2.0 * covered(source, tokens)
            np.testing.assert_allclose(found.scores[row, n], score, rtol=1e-3, atol=1e-3)
        of_plain = plain.scores[row] + [2.0 * covered(source, y) for y in plain.tokens.numpy()[row]]
        assert found.scores[row, 0] >= max(of_plain) - 1e-3
    assert (np.diff(found.scores) <= 0).all()
    assert not np.array_equal(found.tokens[:, 0, :4], plain.tokens[:, 0, :4])


def test_a_source_gets_alone_what_it_gets_in_a_batch(tiny_model):
    search, ids = Search(tiny_model, CONFIG, lexicon=LEXICON), sources()
    together = search(ids, 2)
    alone = search(ids[2, None, :9], 2)
    np.testing.assert_allclose(alone.scores[0], together.scores[2], rtol=1e-4)
    none = search.with_prefix(tf.zeros([6, 1], tf.int32), ids)
    np.testing.assert_allclose(none.scores[:, 0], together.scores[:, 0], rtol=1e-4)


@pytest.mark.parametrize("settings", [{"beam_size": 1}, {"coverage_weight": 0.0}])
def test_without_hypotheses_to_choose_from_or_a_weight_there_is_no_coverage(tiny_model, settings):
    config = dataclasses.replace(CONFIG, **settings)
    assert Search(tiny_model, config, lexicon=LEXICON).coverage is None
