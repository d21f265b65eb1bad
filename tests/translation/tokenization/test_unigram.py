import itertools

import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.tokenization.unigram import NOTHING, UNKNOWN, UNKNOWN_PENALTY, Unigram

PIECES = ["a", "b", "ab", "ba", "aba", "bb"]


def cut(model, text):
    """The parts of a text and the number of each piece, `UNKNOWN` for a character."""
    ends = model(tf.constant([[*map(ord, text), 0]]), tf.constant([len(text)])).numpy()[0]
    assert ends[len(text)] == NOTHING
    parts, start = [], 0
    for place, end in enumerate(ends, start=1):
        if end != NOTHING:
            parts.append((text[start:place], int(end)))
            start = place
    return parts


def all_ways(text, scores):
    """Every way to cut a text into pieces and single characters, with its score."""
    unknown = min(scores) - UNKNOWN_PENALTY
    for number in range(len(text)):
        for places in itertools.combinations(range(1, len(text)), number):
            parts = [text[i:j] for i, j in itertools.pairwise((0, *places, len(text)))]
            if all(part in PIECES or len(part) == 1 for part in parts):
                yield parts, sum(scores[PIECES.index(p)] if p in PIECES else unknown for p in parts)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(
    st.text(alphabet="abx", min_size=1, max_size=9),
    st.lists(st.floats(-12, -0.5, width=32), min_size=6, max_size=6),
)
def test_the_way_found_is_the_best_of_all(text, scores):
    found = cut(Unigram(PIECES, scores), text)
    assert "".join(part for part, _ in found) == text
    for part, number in found:
        assert number == (PIECES.index(part) + 1 if part in PIECES else UNKNOWN)
    ways = dict((tuple(parts), score) for parts, score in all_ways(text, scores))
    best = ways[tuple(part for part, _ in found)]
    np.testing.assert_allclose(best, max(ways.values()), rtol=1e-5)


def test_of_equal_ways_the_one_with_the_longer_last_piece_stays():
    assert [part for part, _ in cut(Unigram(["a", "aa"], [-1.0, -1.0]), "aaa")] == ["a", "aa"]


def test_rows_do_not_depend_on_each_other():
    model = Unigram(PIECES, [-1.0, -2.0, -1.5, -1.5, -3.0, -2.5])
    texts = ["abaab", "bbx", "x"]
    rows = tf.constant([[*map(ord, text), *[97] * (5 - len(text))] for text in texts])
    together = model(rows, tf.constant([5, 3, 1])).numpy()
    for text, row in zip(texts, together, strict=True):
        assert row[row != NOTHING].tolist() == [number for _, number in cut(model, text)]
