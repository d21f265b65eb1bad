import dataclasses

import numpy as np
import pytest
import tensorflow as tf
from small_models import assert_weights
from small_training import CONFIG

from keras_attn.translation.model import make_model
from keras_attn.translation.training import step
from keras_attn.translation.training.step import make_trainer as make

pytestmark = pytest.mark.usefixtures("eagerly")


def make_trainer(vocab_size=11, **options):
    config = dataclasses.replace(CONFIG, accumulate=1, **options)
    return make(make_model(13, vocab_size, config), config)


def make_batch(num_pairs=1):
    source, target_in, target_out = (
        tf.constant([ids] * num_pairs) for ids in ([5, 6, 3], [2, 4, 5], [4, 5, 3])
    )
    return (source, target_in), target_out


def bias_of_logits(trainer):
    (bias,) = (w for w in trainer.model.trainable_variables if w.path.endswith("logits/bias"))
    return np.asarray(bias)


def test_a_step_follows_the_schedule_and_counts_and_teaches_a_sample_of_the_vocabulary():
    trainer = make_trainer(vocab_size=400, dropout=0.0)
    weights = trainer.model.trainable_variables
    by_muon = {
        weight.path
        for weight, velocity in zip(weights, trainer.optimizer.adam_velocities, strict=True)
        if velocity is None
    }
    within = {w.path for w in weights if "block_" in w.path and w.path.endswith("kernel")}
    assert by_muon == within and 0 < len(within) < len(weights)

    before = trainer.model.get_weights()
    trainer.schedule.left.assign(0.0)
    trainer.train_step(make_batch())
    assert_weights(trainer.model, before)  # nothing is left, so the rate is 0
    trainer.schedule.left.assign(1.0)
    trainer.train_step(make_batch())
    learnt = bias_of_logits(trainer) != 0
    # Adam goes on with the sample of the step before.
    num_sampled = int(CONFIG.sampled_softmax_fraction * 400)
    assert num_sampled <= learnt.sum() <= 2 * num_sampled and learnt[[3, 4, 5]].all()
    for _ in range(CONFIG.matrix_update_interval - 1):
        loss = trainer.train_step(make_batch())["loss"]
    steps = (trainer.step, trainer.optimizer.iterations)
    assert [int(count.numpy()) for count in steps] == [1 + CONFIG.matrix_update_interval] * 2
    assert np.isfinite(loss)
    for one, other in zip(trainer.model.get_weights(), before, strict=True):
        assert np.any(one != other) or not other.any()


def test_the_first_step_of_adam_is_as_long_as_its_share_of_the_rate():
    trainer = make_trainer(
        400, adam_lr_ratio=0.5, warmup_steps=1, dropout=0.0, sampled_softmax_fraction=1.0
    )
    trainer.train_step(make_batch())
    bias = bias_of_logits(trainer)
    assert (bias != 0).all()  # the whole vocabulary is the sample
    assert abs(bias).max() == pytest.approx(0.5 * CONFIG.learning_rate, rel=0.01)


def test_dropout_follows_from_the_seed_and_the_step():
    trainer = make_trainer(dropout=0.5, learning_rate=1e-12)
    losses = []
    for number in (0, 1, 0):
        trainer.step.assign(number)
        trainer.reset_metrics()
        losses.append(float(trainer.train_step(make_batch(num_pairs=8))["loss"]))
    assert losses[0] == pytest.approx(losses[2], rel=1e-6)
    assert abs(losses[0] - losses[1]) > 1e-3


def test_optimizer_loss_and_schedule_are_those_of_the_configuration():
    options = {"adam_beta_1": 0.5, "adam_beta_2": 0.75, "inverse_sqrt_start": 9}
    matrices = {"muon_momentum": 0.25, "newton_schulz_steps": 4, "matrix_update_interval": 3}
    trainer = make_trainer(**options, **matrices)
    found = trainer.optimizer
    assert (found.adam_beta_1, found.adam_beta_2, found.momentum) == (0.5, 0.75, 0.25)
    assert (found.ns_steps, found.every, trainer.schedule.inverse_sqrt_start) == (4, 3, 9)


def test_number_of_shards_follows_from_cores_and_batch_alone(monkeypatch):
    settings = tf.config.threading
    cases = [(1, 4096, 1), (2, 4096, 2), (4, 4096, 4), (16, 4096, 1), (4, 200, 3), (4, 50, 1)]
    for num_cores, batch_tokens, expected in cases:
        monkeypatch.setattr(step.threads, "num_cores", lambda number=num_cores: number)
        for number in (0, 1, 3):
            monkeypatch.setattr(settings, "get_intra_op_parallelism_threads", lambda n=number: n)
            monkeypatch.setattr(settings, "get_inter_op_parallelism_threads", lambda n=number: n)
            assert step.num_shards(batch_tokens) == expected
