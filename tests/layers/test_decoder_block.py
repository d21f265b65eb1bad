import numpy as np
from keras import ops

from keras_attn import DecoderBlock

B, T, S, D = 2, 6, 5, 6
RANDOM = np.random.default_rng(1)
X, MEMORY = (RANDOM.normal(size=(B, n, D)).astype(np.float32) for n in (T, S))


def test_steps_with_a_cache_equal_the_whole_and_attend_to_the_memory():
    block = DecoderBlock(D, 7, 3)
    expected, weights = block(X, MEMORY, return_attention_scores=True)
    assert tuple(weights["self_attention"].shape) == (B, 3, T, T)
    assert tuple(weights["cross_attention"].shape) == (B, 3, T, S)
    cache = block.make_cache(B, T, MEMORY)
    for t in range(T):
        row, cache = block(X[:, t : t + 1], cache=cache, start=t)
        np.testing.assert_allclose(row[:, 0], expected[:, t], atol=1e-5)


def test_memory_behind_its_valid_length_changes_nothing():
    block, lengths = DecoderBlock(D, 7, 3), np.array([3, 4])
    expected = ops.convert_to_numpy(block(X, MEMORY, memory_valid_lens=lengths))
    changed = MEMORY.copy()
    changed[0, 3:], changed[1, 4:] = np.nan, 1e4
    np.testing.assert_array_equal(block(X, changed, memory_valid_lens=lengths), expected)
