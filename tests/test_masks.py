import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn.masks import causal_mask, check_shapes, hide, join_masks, lengths_mask, seen


def test_lengths_of_one_dimension_hold_for_every_query():
    mask = ops.convert_to_numpy(lengths_mask([2, 0, 3], 3))
    assert mask.tolist() == [[[True, True, False]], [[False] * 3], [[True] * 3]]


def test_lengths_of_two_dimensions_hold_for_each_query():
    mask = ops.convert_to_numpy(lengths_mask(np.array([[1, 2]], np.int64), 3))
    assert mask.tolist() == [[[True, False, False], [True, True, False]]]


def test_lengths_of_another_rank_are_refused():
    with pytest.raises(ValueError, match=r"`valid_lens` must have shape \(B,\) or \(B, T\)"):
        lengths_mask(np.ones((1, 2, 3), int), 3)


@pytest.mark.parametrize("start", [0, 2, ops.convert_to_tensor(2)])
def test_causal_mask_counts_positions_from_start(start):
    mask = ops.convert_to_numpy(causal_mask(3, 7, start))[0]
    expected = [[s <= int(start) + t for s in range(7)] for t in range(3)]
    assert mask.tolist() == expected


def test_nothing_given_is_no_mask():
    assert join_masks(3, 5) is None


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 7), st.integers(0, 3))
def test_joined_mask_is_true_where_every_part_is(seed, num_queries, num_keys, start):
    random = np.random.default_rng(seed)
    lens = random.integers(0, num_keys + 1, (2, num_queries))
    parts = {
        "valid_lens": lens,
        "attention_mask": random.random((2, num_queries, num_keys)) < 0.8,
        "use_causal_mask": True,
        "query_mask": random.random((2, num_queries)) < 0.8,
        "key_mask": random.random((2, num_keys)) < 0.8,
        "value_mask": random.random((2, num_keys)) < 0.8,
    }
    joined = ops.convert_to_numpy(join_masks(num_queries, num_keys, **parts, start=start))
    for b, t, s in np.ndindex(2, num_queries, num_keys):
        expected = (
            s < lens[b, t]
            and parts["attention_mask"][b, t, s]
            and s <= start + t
            and parts["query_mask"][b, t]
            and parts["key_mask"][b, s]
            and parts["value_mask"][b, s]
        )
        assert joined[b, t, s] == expected


def test_mask_by_head_keeps_its_heads():
    by_head = np.ones((2, 3, 4, 5), bool)
    by_head[1, 2, 0, 0] = False
    joined = ops.convert_to_numpy(join_masks(4, 5, valid_lens=[5, 4], attention_mask=by_head))
    assert joined.shape == (2, 3, 4, 5)
    assert not joined[1, 2, 0, 0] and joined[1, 1, 0, 0] and not joined[1, 1, 0, 4]


def test_attention_mask_of_rank_one_is_refused():
    with pytest.raises(ValueError, match=r"Received: attention_mask.shape=\(5,\)"):
        join_masks(4, 5, attention_mask=np.ones(5, bool))


def test_unseen_rows_become_zero_even_if_nan():
    x = np.full((1, 3, 2), np.nan, np.float32)
    x[0, 0] = 1.0
    mask = ops.convert_to_tensor([[[True, False, False], [False, False, False]]])
    queries, keys = seen(mask)
    assert ops.convert_to_numpy(hide(x, keys)).tolist() == [[[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]]
    assert ops.convert_to_numpy(hide(x[:, :2], queries)).tolist() == [[[1.0, 1.0], [0.0, 0.0]]]


def test_shapes_known_at_run_time_only_are_let_through():
    query, valid_lens = keras.Input((None, 4)), keras.Input((), dtype="int32")
    check_shapes(query.shape[1], query=query, key=query, valid_lens=valid_lens)


def test_masks_may_be_broadcast():
    query = np.ones((2, 3, 4))
    for shape in [(1, 1), (1, 3, 5), (2, 1, 5), (1, 1, 3, 5), (2, 7, 1, 1)]:
        check_shapes(5, 7, query=query, attention_mask=np.ones(shape, bool))
    check_shapes(5, query=query, valid_lens=[4, 2])
    check_shapes(5, query=query, valid_lens=[[4], [2]])
