import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.greedy import greedy, translate_ids
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID

V = 9


CONFIG = Config(max_pieces=20)


def scripted(table):
    """A step whose logits are `table[row, position]`; its cache counts the steps."""
    table = tf.constant(table, tf.float32)

    def step(last, position, cache):
        return table[:, position], cache + 1

    return step


def search_by_hand(table, limits):
    lines = []
    for row, limit in zip(table, limits, strict=True):
        said = []
        for logits in row[:limit]:
            allowed = [i for i in range(V) if i not in (PAD_ID, UNK_ID, BOS_ID)]
            token = max(allowed, key=logits.__getitem__)
            if token == EOS_ID:
                break
            said.append(token)
        lines.append(said)
    return lines


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_greedy_takes_the_likeliest_allowed_token_until_eos_or_limit(seed, limits):
    table = np.random.default_rng(seed).normal(size=(len(limits), max(limits), V))
    ids = greedy(scripted(table), tf.zeros([len(limits)], tf.int32), tf.constant(limits))
    assert ids.shape == (len(limits), max(limits))
    assert [[i for i in row if i != PAD_ID] for row in ids.numpy().tolist()] == search_by_hand(
        table, limits
    )


def test_search_stops_when_every_row_is_finished():
    table = np.zeros((2, 50, V))
    table[0, 1, EOS_ID] = table[1, 2, EOS_ID] = 9
    table[:, :, 7] += 1
    steps = []

    def step(last, position, cache):
        tf.py_function(lambda p: steps.append(int(p)), [position], [])
        return scripted(table)(last, position, cache)

    tf.function(lambda: greedy(step, tf.zeros([2], tf.int32), tf.constant([50, 50])))()
    assert max(steps) == 2


def test_first_step_gets_bos_and_the_next_what_was_said():
    seen = []

    def step(last, position, cache):
        seen.append(last.numpy().tolist())
        return tf.one_hot([5 + position, 4 + position], V), cache

    greedy(step, tf.zeros([2]), tf.constant([3, 2]))
    assert seen == [[BOS_ID, BOS_ID], [5, 4], [6, 5]]


def without_cache(model, source, max_pieces):
    """The whole target anew for each token."""
    limit = min(2 * len(source) + 10, max_pieces)
    said = []
    while len(said) < limit:
        logits = model((np.array([source]), np.array([[BOS_ID, *said]]))).numpy()[0, -1]
        logits[[PAD_ID, UNK_ID, BOS_ID]] = -np.inf
        if (token := int(logits.argmax())) == EOS_ID:
            break
        said.append(token)
    return said


def test_translations_equal_those_without_cache_and_without_neighbours(tiny_model):
    random = np.random.default_rng(1)
    sources = [[*random.integers(4, 13, n).tolist(), EOS_ID] for n in (1, 3, 7, 2, 5)]
    batch = np.full((5, 8), PAD_ID, np.int32)
    for row, source in enumerate(sources):
        batch[row, : len(source)] = source
    search = tf.function(
        lambda ids: translate_ids(tiny_model, ids, CONFIG),
        input_signature=[tf.TensorSpec((None, None), tf.int32)],
    )
    lines = [[i for i in row if i != PAD_ID] for row in search(batch).numpy().tolist()]
    assert lines == [without_cache(tiny_model, source, 20) for source in sources]
    assert len({tuple(line) for line in lines}) > 1
    for source, line in zip(sources, lines, strict=True):
        alone = search(np.array([source], np.int32)).numpy()[0].tolist()
        assert [i for i in alone if i != PAD_ID] == line


def test_an_empty_batch_gives_an_empty_batch(tiny_model):
    ids = translate_ids(tiny_model, tf.zeros([0, 4], tf.int32), CONFIG)
    assert ids.shape[0] == 0
