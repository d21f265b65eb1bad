import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.model import make_model
from keras_attn.translation.training.train_step import Trainer

CONFIG = Config(
    num_encoder_layers=1, num_decoder_layers=1, num_hiddens=8, ffn_num_hiddens=16, num_heads=2
)


def make_trainer(config=CONFIG, vocab_size=11):
    return Trainer(make_model(13, vocab_size, config), config)


def test_muon_moves_the_kernels_within_the_blocks_and_adam_the_rest():
    trainer = make_trainer()
    weights = trainer.model.trainable_variables
    by_muon = {
        weight.path
        for weight, velocity in zip(weights, trainer.optimizer.adam_velocities, strict=True)
        if velocity is None
    }
    within = {w.path for w in weights if "block_" in w.path and w.path.endswith("kernel")}
    assert by_muon == within and 0 < len(within) < len(weights)


def test_a_step_follows_the_schedule_and_counts():
    trainer = make_trainer(dataclasses.replace(CONFIG, warmup_steps=4))
    batch = tf.constant([[5, 6, 3]]), tf.constant([[2, 4, 5]]), tf.constant([[4, 5, 3]])
    before = trainer.model.get_weights()
    trainer.schedule.left.assign(0.0)
    trainer.train_step((batch[:2], batch[2]))
    for one, other in zip(trainer.model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)  # nothing is left, so the rate is 0
    trainer.schedule.left.assign(1.0)
    for _ in range(CONFIG.matrix_update_interval):
        loss = trainer.train_step((batch[:2], batch[2]))["loss"]
    steps = (trainer.step, trainer.optimizer.iterations)
    assert [int(count.numpy()) for count in steps] == [1 + CONFIG.matrix_update_interval] * 2
    assert np.isfinite(loss)
    for one, other in zip(trainer.model.get_weights(), before, strict=True):
        assert np.any(one != other) or not other.any()


def test_a_step_teaches_the_targets_and_a_sample_of_the_vocabulary():
    trainer = make_trainer(vocab_size=400)
    trainer.train_step(
        ((tf.constant([[5, 6, 3]]), tf.constant([[2, 4, 5]])), tf.constant([[4, 5, 3]]))
    )
    (bias,) = (w for w in trainer.model.trainable_variables if w.path.endswith("logits/bias"))
    learnt = np.asarray(bias) != 0
    assert learnt.sum() == int(CONFIG.sampled_share * 400)
    assert learnt[[3, 4, 5]].all()


def test_adam_moves_its_weights_by_its_share_of_the_rate():
    batch = tf.constant([[5, 6, 3]]), tf.constant([[2, 4, 5]]), tf.constant([[4, 5, 3]])
    moved = []
    for ratio in (0.5, 2.0):
        config = dataclasses.replace(CONFIG, adam_lr_ratio=ratio, warmup_steps=1, dropout=0.0)
        trainer = make_trainer(config)
        (bias,) = (w for w in trainer.model.trainable_variables if w.path.endswith("logits/bias"))
        trainer.train_step((batch[:2], batch[2]))
        moved.append(abs(np.asarray(bias)).max())
    # The first step of Adam is as long as the rate.
    np.testing.assert_allclose(
        moved, [0.5 * config.learning_rate, 2 * config.learning_rate], rtol=0.01
    )


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_dropout_follows_from_the_seed_and_the_step(dropout):
    config = dataclasses.replace(CONFIG, dropout=dropout, learning_rate=1e-12)
    batch = tf.constant([[5, 6, 3]] * 8), tf.constant([[2, 4, 5]] * 8), tf.constant([[4, 5, 3]] * 8)
    trainer = make_trainer(config)
    weights = trainer.model.get_weights()
    losses = []
    for _ in range(2):
        trainer.model.set_weights(weights)
        trainer.step.assign(0)
        for _ in range(2):
            trainer.reset_metrics()
            losses.append(float(trainer.train_step((batch[:2], batch[2]))["loss"]))
    assert losses[:2] == pytest.approx(losses[2:], rel=1e-6)
    assert (abs(losses[0] - losses[1]) > 1e-3) == (dropout > 0)


def test_optimizer_loss_and_schedule_are_those_of_the_configuration():
    config = dataclasses.replace(
        CONFIG,
        adam_beta_1=0.5,
        adam_beta_2=0.75,
        muon_momentum=0.25,
        newton_schulz_steps=4,
        matrix_update_interval=3,
        stable_steps=9,
    )
    trainer = make_trainer(config)
    found = trainer.optimizer.get_config()
    assert (found["adam_beta_1"], found["adam_beta_2"], found["momentum"]) == (0.5, 0.75, 0.25)
    assert (found["ns_steps"], found["every"], trainer.schedule.stable_steps) == (4, 3, 9)


def test_with_the_whole_vocabulary_as_sample_a_step_teaches_all_of_it():
    trainer = make_trainer(dataclasses.replace(CONFIG, sampled_share=1.0), vocab_size=400)
    trainer.train_step(
        ((tf.constant([[5, 6, 3]]), tf.constant([[2, 4, 5]])), tf.constant([[4, 5, 3]]))
    )
    (bias,) = (w for w in trainer.model.trainable_variables if w.path.endswith("logits/bias"))
    assert (np.asarray(bias) != 0).all()
