import numpy as np
import pytest
from keras import ops

from keras_attn.heads import as_groups, attend, keep_finite, multiply, pool_seen, sees_any
from keras_attn.relative import OffsetTerms

B, H, G, T, S, K = 2, 4, 2, 3, 5, 7


def normal(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("num_groups", [1, 2, 4])
def test_each_group_of_heads_meets_its_key_value_head(num_groups):
    left, right = normal(B, H, T, S), normal(B, num_groups, S, K, seed=2)
    expected = left @ right.repeat(H // num_groups, axis=1)
    product = multiply(ops.convert_to_tensor(left), ops.convert_to_tensor(right))
    np.testing.assert_allclose(product, expected, atol=1e-5)


def test_heads_of_a_group_become_one_long_head():
    x = normal(B, H, T, K)
    grouped = as_groups(ops.convert_to_tensor(x), G)
    np.testing.assert_array_equal(grouped[:, 1, T:], x[:, 3])
    np.testing.assert_array_equal(grouped[:, 0, :T], x[:, 0])


def test_attend_is_the_softmax_of_the_scores_times_the_values():
    queries, keys, values = normal(B, H, T, K), normal(B, G, S, K, seed=2), normal(B, G, S, K)
    scores = queries @ keys.repeat(H // G, axis=1).swapaxes(-1, -2)
    powers = np.exp(scores)
    expected = powers / powers.sum(-1, keepdims=True)
    tensors = [ops.convert_to_tensor(x) for x in (queries, keys, values)]
    sums, weights = attend(*tensors, None, OffsetTerms(), lambda weights: weights)
    np.testing.assert_allclose(weights, expected, atol=1e-5)
    np.testing.assert_allclose(sums, expected @ values.repeat(H // G, axis=1), atol=1e-5)


def test_value_of_the_future_reaches_only_those_who_see_it():
    values = np.ones((1, 1, 3, 2), np.float32)
    values[..., 2, :] = np.nan
    weights = np.tril(np.ones((1, 1, 3, 3), np.float32))
    tensors = [ops.convert_to_tensor(x) for x in (weights, values, weights.astype(bool))]
    sums = ops.convert_to_numpy(pool_seen(*tensors, OffsetTerms()))[0, 0]
    np.testing.assert_array_equal(sums[:2], [[1, 1], [2, 2]])
    assert np.isnan(sums[2]).all()


def test_position_with_one_value_that_is_not_finite_is_emptied_in_every_head():
    values = normal(B, G, S, K)
    values[0, 1, 2, 3] = np.inf
    kept, finite = keep_finite(ops.convert_to_tensor(values))
    assert ops.convert_to_numpy(finite).tolist() == [[s != 2 for s in range(S)], [True] * S]
    assert (ops.convert_to_numpy(kept)[0, :, 2] == 0).all()
    np.testing.assert_array_equal(kept[1], values[1])


def test_only_queries_that_may_attend_to_a_marked_key_see_it():
    mask = np.tril(np.ones((1, 1, T, S), bool))
    marked = np.arange(S) == np.array([[1], [4]])
    seen = sees_any(ops.convert_to_tensor(mask), ops.convert_to_tensor(marked))
    expected = [[False, True, True], [False] * 3]
    assert ops.convert_to_numpy(seen)[:, 0, :, 0].tolist() == expected
