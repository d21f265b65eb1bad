import numpy as np
import pytest
import tensorflow as tf
from small_models import strengthen

from keras_attn import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding import shortlist
from keras_attn.translation.decoding.search import Search
from keras_attn.translation.decoding.shortlist import Shortlist
from keras_attn.translation.decoding.teacher_forcing import log_probabilities
from keras_attn.translation.lexicon import FLOOR, Lexicon
from keras_attn.translation.special_ids import EOS_ID, PAD_ID

NUM_SOURCES, NUM_TARGETS, NUM_FREQUENT, NUMBER = 12, 500, 192, 5
RANDOM = np.random.default_rng(0)
LOG_PRIORS = np.log(RANDOM.random(NUM_TARGETS)).astype(np.float32)


@pytest.fixture(autouse=True)
def frequent(monkeypatch):
    monkeypatch.setattr(shortlist, "NUM_FREQUENT", NUM_FREQUENT)


def make_lexicon(num_pairs=4000):
    """A lexicon of many pairs of pieces; source piece 12 is unknown to it."""
    keys = np.sort(RANDOM.choice(NUM_SOURCES * NUM_TARGETS, num_pairs, replace=False))
    log_probs = np.log(RANDOM.random(num_pairs) + FLOOR).astype(np.float16)
    return Lexicon(NUM_SOURCES, keys.astype(np.int32), log_probs)


LEXICON = make_lexicon()
KERNEL = tf.constant(RANDOM.normal(size=[12, NUM_TARGETS]), tf.float32)
BIAS = tf.constant(RANDOM.normal(size=NUM_TARGETS), tf.float32)


def listed(source):
    """Shortlist of one source, by its definition."""
    pieces = set(range(1, NUM_FREQUENT))
    for x in set(source) - {PAD_ID}:
        joint = {
            int(key) // NUM_SOURCES: float(log_prob) + LOG_PRIORS[key // NUM_SOURCES]
            for key, log_prob in zip(*LEXICON[1:], strict=True)
            if key % NUM_SOURCES == x and key // NUM_SOURCES >= NUM_FREQUENT
        }
        pieces |= set(sorted(joint, key=joint.__getitem__)[-NUMBER:])
    return pieces


def sources(lengths=(5, 1, 8, 3, 0, 6), random=RANDOM):
    rows = [[*random.integers(4, 13, length).tolist(), EOS_ID] for length in lengths]
    return tf.ragged.constant(rows, tf.int32).to_tensor(PAD_ID)


def random_sources(number, seed):
    random = np.random.default_rng(seed)
    return sources(random.integers(1, 9, number), random)


def with_end(tokens):
    """Ids with EOS after the last."""
    rows = [[*row[row != PAD_ID].tolist(), EOS_ID] for row in tokens.numpy()]
    return tf.ragged.constant(rows, tf.int32).to_tensor(PAD_ID)


def test_a_shortlist_has_the_frequent_pieces_and_likely_translations_of_each_source_piece():
    ids = sources()
    for fixed_size in (False, True):
        found = Shortlist(LEXICON, LOG_PRIORS, NUMBER, KERNEL, BIAS)(ids, fixed_size)
        pieces, kernel, biases = (part.numpy() for part in found)
        assert len(pieces) % 64 == 0 and pieces[:192].tolist() == list(range(192))
        for row, source in zip(biases, ids.numpy().tolist(), strict=True):
            assert np.isneginf(row[0])  # before `fit`
            is_in = row > -np.inf
            assert sorted(pieces[is_in]) == sorted(listed(source))
            np.testing.assert_array_equal(row[is_in], BIAS.numpy()[pieces[is_in]])
            np.testing.assert_array_equal(kernel[:, is_in], KERNEL.numpy()[:, pieces[is_in]])


def test_with_a_fixed_size_the_number_of_pieces_depends_on_the_length_alone():
    make = Shortlist(LEXICON, LOG_PRIORS, 1, KERNEL, BIAS)
    sizes = {len(make(sources([5]), True).ids) for _ in range(5)}
    assert sizes == {256}  # 192, 6 positions, and the rest of a chunk
    assert len(make(sources([400]), True).ids) == 512  # all 500, and padding


def make_model(**options):
    model = Transformer.from_sizes(13, NUM_TARGETS, 1, 1, 12, 16, 2, blockwise=False, **options)
    model.build(((None, None), (None, None)))
    return strengthen(model)


@pytest.mark.parametrize("position", ["sinusoidal", "t5"])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_search_finds_what_it_finds_if_other_pieces_are_impossible(position, beam_size):
    model, ids = make_model(position=position), sources()
    bias = model.decoder.output_projection()[1].numpy()
    config = Config(max_length=20, beam_size=beam_size, shortlist=NUMBER, coverage_weight=0.0)
    search = Search(model, config, lexicon=LEXICON, log_priors=LOG_PRIORS)
    together, plain = search(ids, beam_size), Search(model, config)(ids, beam_size)
    assert not np.array_equal(together.tokens[:, 0, :4], plain.tokens[:, 0, :4])
    limited = Search(model, config)
    for row, source in enumerate(ids.numpy().tolist()):
        others = list(set(range(NUM_TARGETS)) - listed(source))
        impossible = bias.copy()
        impossible[others] = -1e9
        weights = model.decoder._logits_dense.bias
        weights.assign(impossible)
        expected = limited(ids[row, None], beam_size)
        weights.assign(bias)
        alone = search(ids[row, None], beam_size)  # by a compiled program
        for found, place in ((together, row), (alone, 0)):
            said = found.tokens[place, :, : expected.tokens.shape[2]]
            np.testing.assert_array_equal(said, expected.tokens[0, :, : said.shape[1]])
            np.testing.assert_allclose(found.scores[place], expected.scores[0], rtol=1e-4)


def test_there_is_no_shortlist_without_a_lexicon_or_for_a_small_vocabulary(monkeypatch):
    decoder = make_model().decoder
    assert Shortlist.of(LEXICON, LOG_PRIORS, NUMBER, decoder) is not None
    assert Shortlist.of(LEXICON, LOG_PRIORS, 0, decoder) is None
    assert Shortlist.of(None, LOG_PRIORS, NUMBER, decoder) is None
    monkeypatch.setattr(shortlist, "NUM_FREQUENT", 250)
    assert Shortlist.of(LEXICON, LOG_PRIORS, NUMBER, decoder) is None


def test_after_a_fit_scores_are_near_those_of_the_whole_vocabulary():
    model, config = make_model(), Config(max_length=8, beam_size=1, shortlist=NUMBER)
    search = Search(model, config, lexicon=LEXICON, log_priors=LOG_PRIORS)

    def excess(seed):
        """Scores of the search minus log probabilities of the model, for each source."""
        ids = random_sources(40, seed)
        found = search(ids)
        said = with_end(found.tokens[:, 0])
        return found.scores[:, 0] - log_probabilities(model, ids, said), (ids, said)

    before, pairs = excess(seed=1)
    search.shortlist.fit(model, [pairs, excess(seed=2)[1]])
    after, _ = excess(seed=3)
    assert np.mean(before) > 1  # 300 of 500 pieces are outside
    assert np.abs(after).mean() < 0.1 * np.mean(before)


def test_no_variable_is_copied_whenever_a_search_reads_it():
    """TensorFlow does so once a `ResourceGather` has gathered from the variable itself."""
    config = Config(max_length=8, beam_size=2, shortlist=NUMBER)
    search = Search(make_model(), config, lexicon=LEXICON, log_priors=LOG_PRIORS)
    assert search.shortlist is not None and search.coverage is not None
    traced = tf.function(search, input_signature=[tf.TensorSpec([None, None], tf.int32)])
    graph = traced.get_concrete_function().graph.as_graph_def()
    nodes = [*graph.node, *(node for f in graph.library.function for node in f.node_def)]
    types = {node.op for node in nodes}
    assert "ReadVariableOp" in types and "ResourceGather" not in types
