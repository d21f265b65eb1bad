from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.training import sharding
from keras_attn.translation.training.translation_loss import TranslationLoss

SEED = tf.constant([1, 2], tf.int64)
pytestmark = pytest.mark.usefixtures("eagerly")


def test_shards_make_the_loss_and_gradients_of_the_whole_though_some_have_no_pair(tiny_model):
    random = np.random.default_rng(3)
    source, target = (random.integers(4, 11, (3, n)) for n in (5, 4))
    target_out = np.where([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]], target, 0)
    batch = [tf.constant(side, tf.int32) for side in (source, target, target_out)]
    weights = [weight.value for weight in tiny_model.trainable_variables]
    loss_of = TranslationLoss(tiny_model, label_smoothing=0.1)
    with tf.GradientTape() as tape:
        whole = loss_of(*batch, SEED)
    expected = [tf.convert_to_tensor(one) for one in tape.gradient(whole, weights)]
    for num_shards in (1, 2, 4):
        loss, found = sharding.loss_and_gradients(tiny_model, loss_of, num_shards, batch, SEED)
        np.testing.assert_allclose(loss, whole, rtol=1e-4)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * np.abs(other).max())


def test_each_shard_has_random_numbers_of_its_own():
    seeds = []

    class Remembering:
        def share(self, target_out, seed):
            seeds.append(tuple(seed.numpy().tolist()))
            return tf.constant(1.0), None

        def of_shard(self, made, others, source, target_in, target_out, seed):
            seeds.append(tuple(seed.numpy().tolist()))
            return made

    batch = [tf.ones([4, 3], tf.int32)] * 3
    for seed in (SEED, SEED + 1):
        model = SimpleNamespace(trainable_variables=[keras.Variable(1.0)])
        sharding.loss_and_gradients(model, Remembering(), 2, batch, seed)
    assert len(set(seeds)) == 6


def test_number_of_shards_follows_from_cores_and_batch_alone(monkeypatch):
    settings = tf.config.threading
    cases = [(1, 4096, 1), (2, 4096, 2), (4, 4096, 4), (16, 4096, 1), (4, 200, 3), (4, 50, 1)]
    for num_cores, batch_tokens, expected in cases:
        monkeypatch.setattr(sharding.threads, "num_cores", lambda number=num_cores: number)
        for number in (0, 1, 3):
            monkeypatch.setattr(settings, "get_intra_op_parallelism_threads", lambda n=number: n)
            monkeypatch.setattr(settings, "get_inter_op_parallelism_threads", lambda n=number: n)
            assert sharding.num_shards(batch_tokens) == expected
