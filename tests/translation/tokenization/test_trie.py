import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.tokenization.double_array import NONE
from keras_attn.translation.tokenization.trie import Trie

PIECES = ["a", "ab", "abc", "b", "cab", "川", "川の", "🎉a"]
TRIE = Trie(PIECES)


@settings(deadline=None)
@given(st.lists(st.text(alphabet="abc川の🎉xÿ", max_size=8), min_size=1, max_size=4))
def test_all_pieces_are_found_where_they_begin(texts):
    longest = max(map(len, texts)) + 1  # what stands behind the end does not count
    rows = [[*map(ord, text), *map(ord, "a" * (longest - len(text)))] for text in texts]
    found = TRIE(tf.constant(rows), tf.constant([len(text) for text in texts]))
    assert len(found) == TRIE.longest == 3
    for size, pieces in enumerate(found, start=1):
        for text, row in zip(texts, pieces.numpy(), strict=True):
            for place, number in enumerate(row):
                part = text[place : place + size]
                expected = PIECES.index(part) if part in PIECES and len(part) == size else NONE
                assert number == expected
