import keras
import numpy as np
from keras import ops

from keras_attn import masked_softmax


def test_valid_lens_are_the_same_as_their_mask_with_heads_and_without():
    scores = np.random.default_rng(1).normal(size=(2, 3, 5, 7)).astype(np.float32)
    lens = np.array([[0, 1, 7, 3, 2], [4, 4, 0, 5, 6]])
    mask = np.arange(7) < lens[:, None, :, None]
    powers = np.where(mask, np.exp(scores), 0)
    expected = powers / np.maximum(powers.sum(-1, keepdims=True), 1e-9)
    for given in ({"valid_lens": lens}, {"mask": mask}):
        np.testing.assert_allclose(masked_softmax(scores, **given), expected, atol=1e-6)
    head = masked_softmax(scores[:, 0], valid_lens=lens)
    np.testing.assert_allclose(head, expected[:, 0], atol=1e-6)


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


def test_large_scores_and_an_empty_row_are_finite_in_every_dtype():
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        scores = ops.cast([[[6e4, -6e4, 6e4], [1.0, 2.0, 3.0]]], dtype)
        weights = masked_softmax(scores, valid_lens=[[2, 0]])
        assert weights.dtype == scores.dtype
        found = ops.convert_to_numpy(ops.cast(weights, "float32"))
        assert found.tolist() == [[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]


def test_only_key_left_gets_all_weight_however_low_its_score(compiled):
    mask = np.array([[False, True, False], [False, False, False]])
    softmax = compiled(lambda scores: masked_softmax(scores, mask=mask))
    for lowest in (np.finfo(np.float32).min, -1e38, 0.0):
        scores = np.array([[5.0, lowest, np.inf], [5.0, lowest, np.nan]], np.float32)
        for weights in (softmax(scores), masked_softmax(scores, mask=mask)):
            np.testing.assert_array_equal(weights, [[0, 1, 0], [0, 0, 0]])


def test_no_keys_and_no_rows_give_empty_weights():
    for shape in [(2, 3, 0), (0, 3, 5), (2, 0, 5)]:
        mask = np.ones(shape, bool)
        weights = masked_softmax(np.zeros(shape, np.float32), mask=mask)
        assert tuple(weights.shape) == shape


def test_lengths_and_masks_of_a_functional_model():
    scores = np.random.default_rng(1).normal(size=(2, 3, 5)).astype(np.float32)
    lens, mask = np.array([2, 5], np.int32), scores > -0.5
    for shape in ((3, 5), (None, None)):
        lengths, hidden = keras.Input((), dtype="int32"), keras.Input(shape, dtype="bool")
        given = [keras.Input(shape), lengths, hidden]
        model = keras.Model(given, masked_softmax(*given))
        assert model.output_shape == (None, *shape)
        expected = masked_softmax(scores, lens, mask)
        np.testing.assert_allclose(model([scores, lens, mask]), expected, atol=1e-6)
