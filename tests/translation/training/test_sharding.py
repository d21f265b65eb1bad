import numpy as np
import pytest
import tensorflow as tf

from keras_attn import Transformer
from keras_attn.translation.training import sharding
from keras_attn.translation.training.translation_loss import TranslationLoss

WEIGHTS = [tf.Variable([[1.0], [2.0], [-1.0]]), tf.Variable([3.0])]
SEED = tf.constant([1, 2], tf.int64)


class SquaredError:
    """The mean over real target tokens of a number that depends on all three and the weights."""

    def share(self, target_out, seed):
        table, factor = WEIGHTS
        made = {"table": tf.convert_to_tensor(table), "factor": 2.0 * factor}
        return made, tf.reduce_max(target_out)

    def of_shard(self, made, greatest, source, target_in, target_out, seed):
        rows = tf.gather(made["table"], source)[:, 0] * made["factor"]
        rows += tf.cast(target_in * greatest, tf.float32)
        is_token = tf.cast(target_out > 0, tf.float32)
        costs = is_token * (rows - tf.cast(target_out, tf.float32)) ** 2
        return tf.reduce_sum(costs) / tf.maximum(tf.reduce_sum(is_token), 1.0)


LOSS = SquaredError()


def make_batch(num_pairs):
    random = np.random.default_rng(num_pairs)
    sides = [random.integers(0, 3, (num_pairs, length)) for length in (2, 3, 3)]
    sides[2][:, 0] = 1  # no pair without a token
    return [tf.constant(side, tf.int32) for side in sides]


def test_shards_make_the_loss_and_gradients_of_the_whole():
    for num_pairs, num_shards in ((7, 1), (1, 2), (3, 2), (2, 3), (7, 3)):
        batch = make_batch(num_pairs)
        with tf.GradientTape() as tape:
            expected = LOSS.of_shard(*LOSS.share(batch[-1], SEED), *batch, SEED)
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(expected, WEIGHTS)]
        loss, found = sharding.loss_and_gradients(LOSS, WEIGHTS, batch, SEED, num_shards)
        np.testing.assert_allclose(loss, expected, rtol=1e-5)
        for one, other in zip(found, gradients, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", pytest.param("bfloat16", marks=pytest.mark.slow)])
def test_shards_of_a_real_model_though_some_have_no_pair(tiny_model, dtype):
    policy = "float32" if dtype == "float32" else "mixed_bfloat16"
    model = Transformer.from_sizes(13, 11, 2, 2, 12, 16, 3, dtype=policy)
    model.build(((None, None), (None, None)))
    model.set_weights(tiny_model.get_weights())
    random = np.random.default_rng(3)
    source, target = (random.integers(4, 11, (3, n)) for n in (5, 4))
    batch = [tf.constant(side, tf.int32) for side in (source, target, target)]
    weights = [weight.value for weight in model.trainable_variables]
    loss_of = TranslationLoss(model, label_smoothing=0.1)
    with tf.GradientTape() as tape:
        whole = loss_of(*batch, SEED)
    expected = [tf.convert_to_tensor(one) for one in tape.gradient(whole, weights)]
    loss, found = sharding.loss_and_gradients(loss_of, weights, batch, SEED, num_shards=4)
    near = 1e-4 if dtype == "float32" else 0.03
    np.testing.assert_allclose(loss, whole, rtol=near)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=near, atol=near * np.abs(other).max())


def test_each_shard_has_random_numbers_of_its_own():
    seeds = []

    def remember(seed):
        tf.numpy_function(lambda values: seeds.append(tuple(values.tolist())), [seed], [])

    class Remembering(SquaredError):
        def share(self, target_out, seed):
            remember(seed)
            return super().share(target_out, seed)

        def of_shard(self, made, greatest, source, target_in, target_out, seed):
            remember(seed)
            return super().of_shard(made, greatest, source, target_in, target_out, seed)

    for seed in (SEED, SEED + 1):
        sharding.loss_and_gradients(Remembering(), WEIGHTS, make_batch(4), seed, num_shards=2)
    assert len(set(seeds)) == 6


@pytest.mark.parametrize(
    ("num_cores", "batch_tokens", "expected"),
    [(1, 4096, 1), (2, 4096, 2), (4, 4096, 4), (16, 4096, 1), (4, 200, 3), (4, 50, 1)],
)
def test_number_of_shards_follows_from_cores_and_batch_alone(
    monkeypatch, num_cores, batch_tokens, expected
):
    monkeypatch.setattr(sharding.threads, "num_cores", lambda: num_cores)
    settings = tf.config.threading
    for number in (0, 1, 3):
        monkeypatch.setattr(settings, "get_intra_op_parallelism_threads", lambda n=number: n)
        monkeypatch.setattr(settings, "get_inter_op_parallelism_threads", lambda n=number: n)
        assert sharding.num_shards(batch_tokens) == expected
