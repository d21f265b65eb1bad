import numpy as np
import pytest
from keras import ops

from keras_attn.heads import (
    as_groups,
    attend,
    keep_finite,
    match_batch,
    multiply,
    multiply_by_matrix,
    pool_seen,
    score,
    sees_any,
)
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


def test_batch_of_one_is_repeated_and_another_is_left_alone():
    x, other = ops.convert_to_tensor(normal(1, G, S, K)), ops.zeros((3, 1))
    np.testing.assert_array_equal(match_batch(x, other), normal(1, G, S, K).repeat(3, axis=0))
    assert match_batch(other, other) is other
    assert match_batch(x, x) is x


def test_matrix_is_the_same_for_all_heads():
    left, right = normal(B, H, T, S), normal(S, K, seed=2)
    product = multiply_by_matrix(*map(ops.convert_to_tensor, (left, right)))
    np.testing.assert_allclose(product, left @ right, atol=1e-5)


def test_values_of_one_example_serve_all_weights():
    weights, values = normal(B, H, T, S), normal(1, H, S, K, seed=2)
    tensors = [ops.convert_to_tensor(x) for x in (weights, values)]
    mask = ops.ones((1, 1, T, S), "bool")
    for given in (None, mask):
        sums = pool_seen(*tensors, given, OffsetTerms())
        np.testing.assert_allclose(sums, weights @ values, atol=1e-5)


def test_soft_cap_bounds_the_complete_score():
    queries, keys, bias = 9 * normal(B, H, T, K), normal(B, H, S, K, seed=2), normal(H, T + S - 1)
    t, s = np.ogrid[:T, :S]
    expected = queries @ keys.swapaxes(-1, -2) + bias[:, s - t + T - 1]
    tensors = [ops.convert_to_tensor(x) for x in (queries, keys)]
    scores = score(*tensors, OffsetTerms(bias=ops.convert_to_tensor(bias)), soft_cap=5.0)
    np.testing.assert_allclose(scores, 5 * np.tanh(expected / 5), atol=1e-5)
    assert np.abs(scores).max() <= 5


def test_nan_behind_the_mask_reaches_no_gradient_of_a_capped_score(gradients):
    bias = np.zeros((1, 3), np.float32)
    bias[0, 2] = np.nan
    mask = ops.convert_to_tensor([[[[True, False], [True, True]]]])
    one = ops.ones((1, 1, 2, 1))

    def loss(bias):
        terms = OffsetTerms(bias=bias)
        return ops.sum(attend(one, one, one, mask, terms, lambda weights: weights, 2.0)[0])

    (gradient,) = gradients(loss, bias)
    np.testing.assert_allclose(gradient, np.zeros((1, 3)), atol=1e-6)
