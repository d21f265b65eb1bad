"""Training step of the configured loss and optimizer, for TensorFlow or JAX."""

from functools import partial
from typing import Any

import keras

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.training import sharding
from keras_attn.translation.training.muon import FusedMuon
from keras_attn.translation.training.schedule import WarmUpStableDecay
from keras_attn.translation.training.trainer import Trainer
from keras_attn.translation.training.translation_loss import TranslationLoss


def make_trainer(model: Transformer, config: Config) -> Trainer:
    """Return a Keras model whose `fit` trains a built `model` with `TranslationLoss` and Muon."""
    num_sampled = int(config.sampled_softmax_fraction * model.decoder.vocab_size)
    loss_of = TranslationLoss(model, config.label_smoothing, num_sampled)
    schedule = WarmUpStableDecay(
        config.learning_rate,
        config.warmup_steps,
        config.cooldown_fraction,
        config.inverse_sqrt_start,
    )
    options: dict[str, Any] = {
        "learning_rate": schedule,
        "adam_lr_ratio": config.adam_lr_ratio,
        "adam_beta_1": config.adam_beta_1,
        "adam_beta_2": config.adam_beta_2,
        "momentum": config.muon_momentum,
        "exclude_layers": ["logits"],
        "ns_steps": config.newton_schulz_steps,
        "dtype": config.precision,
        "every": config.matrix_update_interval,
        "global_clipnorm": config.clip_norm,
        "gradient_accumulation_steps": config.accumulate if config.accumulate > 1 else None,
    }
    if keras.backend.backend() == "jax":
        from keras_attn.translation.training.jax.muon import StackedMuon
        from keras_attn.translation.training.jax.step import JaxTrainer, loss_and_gradients

        of_batch = partial(loss_and_gradients, model, loss_of)
        return JaxTrainer(model, schedule, StackedMuon(**options), of_batch, config.seed)
    of_batch = partial(
        sharding.loss_and_gradients, model, loss_of, sharding.num_shards(config.batch_tokens)
    )
    return Trainer(model, schedule, FusedMuon(**options), of_batch, config.seed)
