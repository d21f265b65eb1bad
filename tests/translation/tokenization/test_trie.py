import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.tokenization.double_array import NONE
from keras_attn.translation.tokenization.trie import Trie

PIECES = ["a", "ab", "abc", "b", "cab", "川", "川の", "🎉a"]
TRIE = Trie(PIECES)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.lists(st.text(alphabet="abc川の🎉xÿ", max_size=8), min_size=1, max_size=4))
def test_all_pieces_are_found_where_they_end(texts):
    longest = max(map(len, texts)) + 1  # what stands behind the end does not count
    rows = [[*map(ord, text), *map(ord, "a" * (longest - len(text)))] for text in texts]
    found = TRIE(tf.constant(rows), tf.constant([len(text) for text in texts]))
    assert found.shape == (TRIE.longest, len(texts), longest) == (3, len(texts), longest)
    for size, pieces in enumerate(found.numpy(), start=1):
        for text, row in zip(texts, pieces, strict=True):
            for end, number in enumerate(row, start=1):
                part = text[max(end - size, 0) : end]
                is_inside = size <= end <= len(text)
                assert number == (PIECES.index(part) if is_inside and part in PIECES else NONE)
