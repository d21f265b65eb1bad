import keras
import numpy as np
from attention_of_heads import S, T, some_masks
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn.layers import masks
from keras_attn.layers.masks import Masks, check_shapes


def test_lengths_hold_for_every_query_or_for_each():
    mask = ops.convert_to_numpy(masks.lengths_mask([2, 0, 3], 3))
    assert mask.tolist() == [[[True, True, False]], [[False] * 3], [[True] * 3]]
    mask = ops.convert_to_numpy(masks.lengths_mask(np.array([[1, 2]], np.int64), 3))
    assert mask.tolist() == [[[True, False, False], [True, True, False]]]


def test_causal_mask_counts_positions_from_start_and_a_window_leaves_less_distant_keys():
    for start in (0, 2, ops.convert_to_tensor(2)):
        mask = ops.convert_to_numpy(
            Masks(use_causal_mask=True, start=start, num_queries=3, num_keys=7).join()
        )[0, 0]
        assert mask.tolist() == [[s <= int(start) + t for s in range(7)] for t in range(3)]
    mask = ops.convert_to_numpy(Masks(window=2, start=1, num_queries=2, num_keys=5).join())[0, 0]
    assert mask.astype(int).tolist() == [[1, 1, 1, 0, 0], [0, 1, 1, 1, 0]]


@settings(deadline=None, max_examples=10, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.sampled_from([None, 2]))
def test_joined_mask_is_true_where_every_part_is(seed, start, window):
    random = np.random.default_rng(seed)
    given_masks, allowed = some_masks(random, start=start, window=window)
    all_masks = Masks(**given_masks, start=start, window=window, num_queries=T, num_keys=S)
    joined = all_masks.join()
    assert (joined is None) == (not given_masks and window is None) == all_masks.hide_nothing
    joined = np.ones((1, 1, 1, 1), bool) if joined is None else ops.convert_to_numpy(joined)
    np.testing.assert_array_equal(np.broadcast_to(joined, allowed.shape), allowed)


def test_masks_may_be_broadcast_and_have_shapes_known_at_run_time_only():
    query = np.ones((2, 3, 4))
    for shape in [(1, 1), (1, 3, 5), (2, 1, 5), (1, 1, 3, 5), (2, 7, 1, 1)]:
        check_shapes(5, 7, query=query, attention_mask=np.ones(shape, bool))
    for lengths in ([4, 2], [[4], [2]]):
        check_shapes(5, query=query, valid_lens=lengths)
    query, valid_lens = keras.Input((None, 4)), keras.Input((), dtype="int32")
    check_shapes(query.shape[1], query=query, key=query, valid_lens=valid_lens)


@settings(deadline=None, max_examples=10, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.sampled_from([None, 1, 2, 3]))
def test_masks_of_a_block_are_a_part_of_all_and_hold_all_that_a_window_shows(seed, start, window):
    random = np.random.default_rng(seed)
    given_masks, allowed = some_masks(random, num_keys=12, start=start, window=window)
    all_masks = Masks(**given_masks, start=start, window=window, num_queries=T, num_keys=12)
    num, heads = all_masks.num_seen(3), np.arange(2, 4)
    for first in (0, 2, 4):
        first_key = int(all_masks.first_seen(first, num))
        block = all_masks.of_block(ops.convert_to_tensor(1), heads, first, 3, first_key, num).join()
        expected = allowed[1:2, 2:4, first : first + 3]
        outside = np.delete(expected, np.s_[first_key : first_key + num], axis=-1)
        assert not outside.any() or window is None
        if block is not None:
            expected = expected[..., first_key : first_key + num]
            np.testing.assert_array_equal(np.broadcast_to(block, expected.shape), expected)
