import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn import masked_softmax


def reference(scores, mask):
    weights = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        row, allowed = scores[index].astype(np.float64), mask[index]
        if allowed.any():
            powers = np.where(allowed, np.exp(row - row[allowed].max()), 0)
            weights[index] = powers / powers.sum()
    return weights


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(3,), (2, 5), (2, 3, 7), (2, 3, 5, 4)]))
def test_equals_the_formula_in_float64(seed, shape):
    random = np.random.default_rng(seed)
    scores = random.normal(0, 5, shape).astype(np.float32)
    mask = random.random(shape) < 0.6
    weights = ops.convert_to_numpy(masked_softmax(scores, mask=mask))
    np.testing.assert_allclose(weights, reference(scores, mask), atol=1e-6)
    assert (weights[~mask] == 0).all()
    np.testing.assert_allclose(weights.sum(-1), mask.any(-1), atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_large_scores_and_an_empty_row_are_finite_in_every_dtype(dtype):
    scores = ops.cast([[[6e4, -6e4, 6e4], [1.0, 2.0, 3.0]]], dtype)
    weights = masked_softmax(scores, valid_lens=[[2, 0]])
    assert weights.dtype == scores.dtype
    assert ops.convert_to_numpy(ops.cast(weights, "float32")).tolist() == [
        [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    ]


def test_valid_lens_are_the_same_as_their_mask_with_heads_and_without():
    random = np.random.default_rng(1)
    scores = random.normal(size=(2, 3, 5, 7)).astype(np.float32)
    lens = np.array([[0, 1, 7, 3, 2], [4, 4, 0, 5, 6]])
    mask = np.arange(7) < lens[:, None, :, None]
    expected = reference(scores, np.broadcast_to(mask, scores.shape))
    np.testing.assert_allclose(masked_softmax(scores, valid_lens=lens), expected, atol=1e-6)
    np.testing.assert_allclose(
        masked_softmax(scores[:, 0], valid_lens=lens), expected[:, 0], atol=1e-6
    )


def test_what_is_behind_the_mask_reaches_neither_result_nor_gradient(gradients):
    scores = np.array([[1.0, np.nan, 2.0, np.inf], [np.nan] * 4], np.float32)
    mask = np.array([[True, False, True, False], [False] * 4])
    weights = ops.convert_to_numpy(masked_softmax(scores, mask=mask))
    amounts = np.arange(1, 5, dtype=np.float32)
    (gradient,) = gradients(
        lambda scores: ops.sum(ops.multiply(masked_softmax(scores, mask=mask), amounts)), scores
    )
    p = 1 / (1 + np.e)
    np.testing.assert_allclose(weights[0], [p, 0, 1 - p, 0], atol=1e-6)
    np.testing.assert_allclose(weights[1], np.zeros(4))
    np.testing.assert_allclose(gradient[0], [-2 * p * (1 - p), 0, 2 * p * (1 - p), 0], atol=1e-6)
    np.testing.assert_allclose(gradient[1], np.zeros(4))


def test_lengths_without_a_batch_are_refused():
    with pytest.raises(ValueError, match=r"`valid_lens` needs `scores` of shape \(B, ..., T, S\)"):
        masked_softmax(np.zeros((2, 3), np.float32), valid_lens=[1, 2])


def test_mask_of_higher_rank_is_refused():
    with pytest.raises(ValueError, match="`mask` must broadcast to `scores`"):
        masked_softmax(np.zeros((2, 3), np.float32), mask=np.ones((1, 2, 3), bool))


def test_scores_that_are_no_floats_are_refused():
    with pytest.raises(ValueError, match="`scores` must be floats. Received: scores.dtype=int32"):
        masked_softmax([[1, 2, 3]])


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("lowest", [np.finfo(np.float32).min, -1e38, 0.0])
def test_only_key_left_gets_all_weight_however_low_its_score(compiled, jit_compile, lowest):
    scores = np.array([[5.0, lowest, np.inf], [5.0, lowest, np.nan]], np.float32)
    mask = np.array([[False, True, False], [False, False, False]])
    softmax = compiled(lambda scores: masked_softmax(scores, mask=mask), jit_compile=jit_compile)
    np.testing.assert_array_equal(softmax(scores), [[0, 1, 0], [0, 0, 0]])


def test_no_keys_and_no_rows_give_empty_weights():
    for shape in [(2, 3, 0), (0, 3, 5), (2, 0, 5)]:
        mask = np.ones(shape, bool)
        weights = masked_softmax(np.zeros(shape, np.float32), mask=mask)
        assert tuple(weights.shape) == shape
