from hypothesis import given
from hypothesis import strategies as st

from keras_attn.translation.tokenization.trie import NONE, build

KEYS = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=5), unique_by=tuple, max_size=40)


def look_up(trie, key):
    base, check, value = trie
    node = 0
    for symbol in key:
        child = max(base[node] + symbol, 0)
        if child >= len(check) or check[child] != node:
            return NONE
        node = child
    return value[node]


@given(KEYS, KEYS)
def test_every_key_is_found_and_nothing_else(keys, others):
    trie = build(keys)
    for number, key in enumerate(keys):
        assert look_up(trie, key) == number
    for key in others:
        assert (look_up(trie, key) != NONE) == (key in keys)


def test_any_symbol_of_the_keys_stays_within_the_arrays():
    base, check, _ = build([[9], [1, 9], [1, 1, 9]])
    assert (base + 9).max() < len(check)
    assert look_up(build([]), [1]) == NONE
