import keras
import numpy as np
import pytest
import tensorflow as tf
from small_models import strong

from keras_attn.training import SampledCrossEntropy, sharding
from keras_attn.training.head import Head
from keras_attn.training.model_loss import ModelLoss, Shared, Whole

SEED = tf.constant([1, 2], tf.int64)
pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.fixture(scope="module")
def model():
    return strong(blockwise=False)


def make_batch():
    random = np.random.default_rng(3)
    source, target = (random.integers(4, 11, (3, n)) for n in (5, 4))
    target_out = np.where([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]], target, 0)
    source, target, target_out = (tf.constant(x, tf.int32) for x in (source, target, target_out))
    return (source, target), target_out, tf.constant([[0.5], [2.0], [3.0]])


def test_shards_make_the_loss_and_gradients_of_the_whole_though_some_have_no_example(model):
    loss_of = ModelLoss(model, Head.of_decoder(model.decoder), SampledCrossEntropy(1.0, 0.1))
    inputs, targets, sample_weight = batch = make_batch()
    weights = [weight.value for weight in model.trainable_variables]
    with tf.GradientTape() as tape:
        whole = loss_of(inputs, targets, SEED, sample_weight)
    expected = [tf.convert_to_tensor(one) for one in tape.gradient(whole, weights)]
    for num_shards in (1, 2, 4):
        loss, found = sharding.loss_and_gradients(loss_of, num_shards, batch, SEED)
        np.testing.assert_allclose(loss, whole, rtol=1e-4)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * np.abs(other).max())
    loss, found = sharding.loss_and_gradients(loss_of, 2, batch, SEED, lambda loss: 8 * loss)
    np.testing.assert_allclose(loss, whole, rtol=1e-4)
    np.testing.assert_allclose(found[0], 8 * expected[0], rtol=1e-4, atol=1e-5)


def test_each_shard_has_random_numbers_of_its_own():
    seeds = []

    class Remembering:
        weights = [keras.Variable(1.0)]

        def share(self, targets, seed):
            seeds.append(tuple(seed.numpy().tolist()))
            return Shared([tf.constant(1.0)], tf.constant(1.0), tf.constant(1.0)), Whole(None, 1, 1)

        def of_shard(self, shared, whole, inputs, targets, sample_weight, seed):
            seeds.append(tuple(seed.numpy().tolist()))
            return shared.kernel

    ids = tf.ones([4, 3], tf.int32)
    for seed in (SEED, SEED + 1):
        sharding.loss_and_gradients(Remembering(), 2, (ids, ids, None), seed)
    assert len(set(seeds)) == 6
