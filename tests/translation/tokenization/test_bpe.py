import tensorflow as tf

from keras_attn.translation.tokenization.bpe import BytePairEncoding, MergeDropout
from keras_attn.translation.tokenization.unigram import NOTHING, UNKNOWN

# In the order in which they were learnt.
PIECES = ["ab", "bc", "abc", "aa", "aab", "cc", "xy", "a", "b", "c"]
MODEL = BytePairEncoding(PIECES, [-float(i) for i in range(len(PIECES))])


def test_pairs_are_joined_one_by_one_the_best_first():
    row = tf.constant([[*map(ord, "abcaabcxya")]])
    found = MODEL(row, tf.constant([9])).numpy()[0].tolist()
    numbers = {piece: number for number, piece in enumerate(PIECES, start=1)}
    abc, a, xy = (numbers[piece] for piece in ("abc", "a", "xy"))
    assert found == [*[NOTHING] * 2, abc, a, *[NOTHING] * 2, abc, NOTHING, xy, NOTHING]
    # Characters alone are a vocabulary too.
    model = BytePairEncoding(["a"], [0.0])
    assert model(tf.constant([[97, 98]]), tf.constant([2])).numpy().tolist() == [[1, UNKNOWN]]


def test_pairs_are_passed_over_by_chance():
    rows = tf.constant([[*map(ord, "abcaabcc")]] * 500)
    lengths = tf.fill([500], 8)

    def num_pieces(alpha):
        found = MODEL(rows, lengths, MergeDropout(tf.constant(alpha), tf.constant(3))).numpy()
        return (found != NOTHING).sum(axis=1)

    assert set(num_pieces(0.0)) == {4}
    assert set(num_pieces(1.0)) == {8}
    some = num_pieces(0.3)
    assert len(set(some)) > 3
    assert num_pieces(0.1).mean() < some.mean() < num_pieces(0.6).mean()
