import keras
import numpy as np
import pytest

from keras_attn.training import SampledCrossEntropy

RANDOM = np.random.default_rng(5)
LOGITS = RANDOM.normal(size=(2, 3, 11)).astype(np.float32)
TARGETS = np.array([[4, 0, 7], [0, 0, 10]])
WEIGHTS = np.array([[2.0, 5.0, 0.5], [1.0, 1.0, 3.0]], np.float32)


def test_equals_cross_entropy_of_keras_with_the_same_weights_and_ignored_class():
    of_examples = WEIGHTS[:, :1]  # Keras wants one for each target
    for ignored in (0, None, 7):
        theirs = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=ignored)
        mine = SampledCrossEntropy(ignore_class=ignored)
        for weights in (None, WEIGHTS, of_examples + 0 * WEIGHTS):
            expected = pytest.approx(float(theirs(TARGETS, LOGITS, weights)), rel=1e-5)
            assert float(mine(TARGETS, LOGITS, weights)) == expected
            assert float(mine(TARGETS[..., None], LOGITS, weights)) == expected
        for weights in (of_examples, of_examples[:, 0]):
            assert float(mine(TARGETS, LOGITS, weights)) == expected


def test_smoothing_is_a_mixture_with_the_mean_of_the_vocabulary():
    log_p = np.asarray(keras.ops.log_softmax(LOGITS))
    expected = 0.7 * -log_p[1, 2, 10] - 0.3 * log_p[1, 2].mean()
    loss = SampledCrossEntropy(label_smoothing=0.3)
    assert float(loss(TARGETS[1:], LOGITS[1:])) == pytest.approx(expected, rel=1e-5)


def test_an_ignored_class_may_be_no_column_and_a_batch_may_have_no_target():
    loss = SampledCrossEntropy(ignore_class=-1)
    with_ignored = loss(np.array([[4, -1, -1]]), LOGITS[:1])
    assert float(with_ignored) == pytest.approx(float(loss(np.array([[4]]), LOGITS[:1, :1])))
    assert float(loss(np.array([[-1, -1, -1]]), LOGITS[:1])) == 0


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="`fraction` must be a number above 0 and at most 1"):
        SampledCrossEntropy(fraction=0)
    for smoothing in (1.0, "much"):
        with pytest.raises(ValueError, match="`label_smoothing` must be a number of at least 0 an"):
            SampledCrossEntropy(label_smoothing=smoothing)
    with pytest.raises(ValueError, match="`ignore_class` must be an integer or None. Received"):
        SampledCrossEntropy(ignore_class=0.5)


def test_config_round_trip():
    loss = SampledCrossEntropy(0.5, 0.1, None, name="mine")
    made = keras.losses.deserialize(keras.losses.serialize(loss))
    assert made.get_config() == loss.get_config() and made.fraction == 0.5
