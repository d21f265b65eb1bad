"""Training step: loss, gradients and optimizer update."""

from __future__ import annotations

import keras
import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.training import sharding
from keras_attn.translation.training.muon import FusedMuon
from keras_attn.translation.training.schedule import WarmUpStableDecay
from keras_attn.translation.training.translation_loss import TranslationLoss


class Trainer(keras.Model):
    """Keras model whose `fit` trains a `Transformer` with `TranslationLoss` and `FusedMuon`.

    Args:
        model: Built model.
        config: Configuration of loss, optimizer and schedule.

    Attributes:
        schedule: Learning-rate schedule. Assign its `left` before each batch.
        step: Number of batches trained on, a TensorFlow variable.
    """

    def __init__(self, model: Transformer, config: Config):
        super().__init__()
        self.model = model
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._seed = config.seed
        self._num_shards = sharding.num_shards(config.batch_tokens)
        num_sampled = int(config.sampled_share * model.decoder.vocab_size)
        self._loss_of = TranslationLoss(model, config.label_smoothing, num_sampled)
        self._mean_loss = keras.metrics.Mean(name="loss")
        self.schedule = WarmUpStableDecay(
            config.learning_rate, config.warmup_steps, config.cool_down, config.stable_steps
        )
        optimizer = FusedMuon(
            self.schedule,
            adam_lr_ratio=config.adam_lr_ratio,
            adam_beta_1=config.adam_beta_1,
            adam_beta_2=config.adam_beta_2,
            momentum=config.muon_momentum,
            exclude_layers=["logits"],
            ns_steps=config.newton_schulz_steps,
            dtype=config.precision,
            every=config.matrix_update_interval,
            global_clipnorm=config.clip_norm,
            gradient_accumulation_steps=config.accumulate if config.accumulate > 1 else None,
        )
        optimizer.build(model.trainable_variables)
        self.compile(optimizer, jit_compile=False)

    @property
    def metrics(self):
        return [self._mean_loss]

    def train_step(self, data):
        (source, target_in), target_out = data
        weights = self.model.trainable_variables
        loss, gradients = sharding.loss_and_gradients(
            self._loss_of,
            [weight.value for weight in weights],
            (source, target_in, target_out),
            seed=tf.stack([tf.constant(self._seed, tf.int64), self.step]),
            num_shards=self._num_shards,
        )
        self.optimizer.apply(gradients, weights)
        self.step.assign_add(1)
        self._mean_loss.update_state(loss)
        return {"loss": self._mean_loss.result()}
