import tensorflow as tf

from keras_attn.translation.tokenization.unigram import NOTHING, UNKNOWN, Unigram


def test_the_best_way_is_found_in_each_row_and_the_longer_last_piece_wins_a_tie():
    model = Unigram(["a", "b", "ab", "aa"], [-1.0, -2.0, -1.5, -1.0])
    # Of each text: its cut, and the number of each piece, `UNKNOWN` for another character.
    expected = {
        "ab": [("ab", 3)],
        "aaa": [("a", 1), ("aa", 4)],
        "bxab": [("b", 2), ("x", UNKNOWN), ("ab", 3)],
    }
    # What stands behind the end of a text does not count.
    rows = tf.constant([[*map(ord, text), *map(ord, "a" * (5 - len(text)))] for text in expected])
    found = model(rows, tf.constant([len(text) for text in expected])).numpy()
    for parts, row in zip(expected.values(), found, strict=True):
        ends = []
        for part, number in parts:
            ends += [NOTHING] * (len(part) - 1) + [number]
        assert row.tolist() == ends + [NOTHING] * (5 - len(ends))
