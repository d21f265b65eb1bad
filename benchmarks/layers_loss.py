"""The loss of training, computed by the Keras layers themselves, for `training_peers.py`."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.training.loss import Sample, draw_sample, smoothed_cross_entropy


class LayersLoss:
    """Sampled, label-smoothed loss of a model that runs as it is written.

    The interface is that of `TrainingLoss`: `share` for what shards have in common, `of_shard`.

    Args:
        model: Built model.
        config: Label smoothing, precision and sampled share.
    """

    def __init__(self, model: Transformer, config: Config):
        self._model = model
        self._label_smoothing = config.label_smoothing
        self._dtype = config.precision
        self._num_sampled = int(config.sampled_share * model.decoder.vocab_size)
        logits = {id(weight) for weight in model.decoder._logits_dense.weights}
        self._weights = [w for w in model.trainable_variables if id(w) not in logits]
        # The state of seed generators.
        self._seeds = model.non_trainable_variables

    def share(self, target_out: tf.Tensor, seed: tf.Tensor) -> tuple[Any, Sample]:
        """Return the weights in the type of the products, and the sampled tokens."""
        sample = draw_sample(target_out, self._model.decoder.vocab_size, self._num_sampled, seed)
        kernel, bias = self._model.decoder.output_projection(sample.pieces)
        weights = [
            tf.cast(weight.value, self._dtype if _is_kernel(weight) else "float32")
            for weight in self._weights
        ]
        return {"weights": weights, "kernel": tf.cast(kernel, self._dtype), "bias": bias}, sample

    def of_shard(
        self,
        made: dict[str, Any],
        sample: Sample,
        source: tf.Tensor,
        target_in: tf.Tensor,
        target_out: tf.Tensor,
        seed: tf.Tensor,
    ) -> tf.Tensor:
        """Return the mean loss of a token of a shard."""
        model, state = self._model, list(zip(self._weights, made["weights"], strict=True))
        if self._seeds:
            seeds = tf.unstack(tf.random.split(seed, len(self._seeds)), len(self._seeds))
            state += [(v, tf.cast(s, v.dtype)) for v, s in zip(self._seeds, seeds, strict=True)]
        with keras.StatelessScope(state_mapping=state):
            memory = model.encoder(source, training=True)
            mask = model.encoder.compute_mask(source)
            states = model.decoder.states(target_in, memory, memory_mask=mask, training=True)
        states = tf.cast(tf.reshape(states, [-1, model.decoder.num_hiddens]), self._dtype)
        targets = tf.reshape(target_out, [-1])
        is_token = tf.where(tf.not_equal(targets, PAD_ID))[:, 0]
        states, targets = tf.gather(states, is_token), tf.gather(targets, is_token)
        cost = smoothed_cross_entropy(
            states,
            made["kernel"],
            made["bias"],
            tf.gather(sample.places, targets),
            self._label_smoothing,
            sample.counts,
        )
        return cost / tf.cast(tf.maximum(tf.size(targets), 1), tf.float32)


def _is_kernel(weight: keras.Variable) -> bool:
    return weight.path.endswith("kernel")
