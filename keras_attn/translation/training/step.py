"""Training step of the configured loss and optimizer, for TensorFlow or JAX."""

from functools import partial

import keras

from keras_attn.layers.transformer import Transformer
from keras_attn.training import sharding
from keras_attn.training.head import Head
from keras_attn.training.loss import SampledCrossEntropy
from keras_attn.training.model_loss import ModelLoss
from keras_attn.training.muon import Muon
from keras_attn.translation.config import Config
from keras_attn.translation.runtime import threads
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.training.schedule import WarmUpStableDecay
from keras_attn.translation.training.trainer import Trainer

# Minimum number of tokens in a shard: smaller batches are not divided.
MIN_SHARD_TOKENS = 64


def num_shards(batch_tokens: int) -> int:
    """Number of shards of a batch of at most `batch_tokens`, whatever the settings of threads."""
    return max(1, min(threads.num_parallel_operations(), batch_tokens // MIN_SHARD_TOKENS))


def make_loss(model: Transformer, config: Config) -> ModelLoss:
    """Return the configured loss of a built model."""
    settings = config.sampled_softmax_fraction, config.label_smoothing, PAD_ID
    return ModelLoss(model, Head.of_decoder(model.decoder), SampledCrossEntropy(*settings))


def make_trainer(model: Transformer, config: Config) -> Trainer:
    """Return a Keras model whose `fit` trains a built `model` with `ModelLoss` and Muon."""
    loss_of = make_loss(model, config)
    schedule = WarmUpStableDecay(
        config.learning_rate,
        config.warmup_steps,
        config.cooldown_fraction,
        config.inverse_sqrt_start,
    )
    optimizer = Muon(
        schedule,
        adam_lr_ratio=config.adam_lr_ratio,
        adam_beta_1=config.adam_beta_1,
        adam_beta_2=config.adam_beta_2,
        momentum=config.muon_momentum,
        ns_steps=config.newton_schulz_steps,
        dtype=config.precision,
        every=config.matrix_update_interval,
        global_clipnorm=config.clip_norm,
        gradient_accumulation_steps=config.accumulate if config.accumulate > 1 else None,
    )
    if keras.backend.backend() == "jax":
        from keras_attn.translation.training.jax import step as on_jax

        of_batch = partial(on_jax.loss_and_gradients, model, loss_of)
        return on_jax.JaxTrainer(model, schedule, optimizer, of_batch, config.seed)
    of_batch = partial(sharding.loss_and_gradients, loss_of, num_shards(config.batch_tokens))
    return Trainer(model, schedule, optimizer, of_batch, config.seed)
