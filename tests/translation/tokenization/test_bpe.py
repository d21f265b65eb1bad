import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.tokenization.bpe import BytePairEncoding, MergeDropout
from keras_attn.translation.tokenization.unigram import NOTHING, UNKNOWN

# In the order in which they were learnt.
PIECES = ["ab", "bc", "abc", "aa", "aab", "cc", "xy", "a", "b", "c"]
MODEL = BytePairEncoding(PIECES, [-float(i) for i in range(len(PIECES))])


def by_hand(text):
    parts = list(text)
    while True:
        pairs = [
            (PIECES.index(one + other), i)
            for i, (one, other) in enumerate(zip(parts, parts[1:], strict=False))
            if one + other in PIECES
        ]
        if not pairs:
            return parts
        _, i = min(pairs)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.lists(st.text(alphabet="abcxyz", max_size=12), min_size=1, max_size=4))
def test_pairs_are_joined_one_by_one_the_best_first(texts):
    width = max(map(len, texts)) + 1
    rows = [[*map(ord, text), *[ord("a")] * (width - len(text))] for text in texts]
    found = MODEL(tf.constant(rows), tf.constant([len(text) for text in texts])).numpy()
    for text, row in zip(texts, found, strict=True):
        expected = [NOTHING] * width
        end = 0
        for part in by_hand(text):
            end += len(part)
            # "x" and "y" are characters of a piece and none themselves.
            expected[end - 1] = PIECES.index(part) + 1 if part in PIECES else UNKNOWN
        assert row.tolist() == expected


def test_pairs_are_passed_over_by_chance():
    rows = tf.constant([[*map(ord, "abcaabcc")]] * 500)
    lengths = tf.fill([500], 8)

    def num_pieces(alpha):
        found = MODEL(rows, lengths, MergeDropout(tf.constant(alpha), tf.constant(3))).numpy()
        return (found != NOTHING).sum(axis=1)

    assert set(num_pieces(0.0)) == {len(by_hand("abcaabcc"))}
    assert set(num_pieces(1.0)) == {8}
    some = num_pieces(0.3)
    assert len(set(some)) > 3
    assert num_pieces(0.1).mean() < some.mean() < num_pieces(0.6).mean()
    # Characters alone are a vocabulary too.
    model = BytePairEncoding(["a"], [0.0])
    assert model(tf.constant([[97, 98]]), tf.constant([2])).numpy().tolist() == [[1, UNKNOWN]]
