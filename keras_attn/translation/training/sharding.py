"""Data-parallel training on one CPU: each core processes a shard of the batch."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.runtime import threads
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.training.translation_loss import TranslationLoss

# Minimum number of tokens in a shard: smaller batches are not divided.
MIN_SHARD_TOKENS = 64


def num_shards(batch_tokens: int) -> int:
    """Number of shards of a batch of at most `batch_tokens`: one for each core, one on a GPU.

    The number does not depend on the thread settings of TensorFlow. Training in a notebook
    therefore has the same shards as `train.py`, and the same dropout.
    """
    return max(1, min(threads.num_parallel_operations(), batch_tokens // MIN_SHARD_TOKENS))


def loss_and_gradients(
    model: Transformer,
    loss_of: TranslationLoss,
    num_shards: int,
    batch: Sequence[tf.Tensor],
    seed: tf.Tensor,
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Mean loss per token of a batch and a gradient for each weight, computed in parallel shards.

    The tensors common to all shards are computed once from the weights. The gradients of these
    tensors are summed over the shards before they are propagated to the weights. The numbers of
    pairs of the shards differ by at most one, and each shard has different dropout.
    """
    num_pairs = tf.shape(batch[0])[0]
    num_tokens = _num_tokens(batch)
    first, *seeds = tf.unstack(tf.random.split(seed, num_shards + 1))

    @tf.function(reduce_retracing=True, autograph=False)  # traced once for all shards
    def of_shard(made: Any, others: Any, shard: Sequence[tf.Tensor], shard_seed: tf.Tensor):
        with tf.GradientTape() as tape:
            tape.watch(made)
            source, target_in, target_out = shard
            loss = loss_of.of_shard(made, others, source, target_in, target_out, shard_seed)
            loss *= _num_tokens(shard) / num_tokens
        return loss, tape.gradient(loss, tf.nest.flatten(made))

    with tf.GradientTape() as tape:
        made, others = loss_of.share(batch[-1], first)
    losses, gradients = [], []
    for number, shard_seed in enumerate(seeds):
        begin, end = (num_pairs * place // num_shards for place in (number, number + 1))
        loss, found = of_shard(made, others, [ids[begin:end] for ids in batch], shard_seed)
        losses.append(loss)
        gradients.append(found)
    # A tensor that the loss does not depend on has no gradient: a weight that no layer uses.
    totals = {
        place: _total(found)
        for place, found in enumerate(zip(*gradients, strict=True))
        if found[0] is not None
    }
    tensors = tf.nest.flatten(made)
    of_weights = tape.gradient(
        [tensors[place] for place in totals],
        [weight.value for weight in model.trainable_variables],
        list(totals.values()),
        unconnected_gradients=tf.UnconnectedGradients.ZERO,
    )
    return tf.add_n(losses), of_weights


def _total(gradients: Sequence[tf.Tensor | tf.IndexedSlices]) -> tf.Tensor:
    """Sum of gradients; sparse gradients are concatenated and made dense once."""
    if not all(isinstance(one, tf.IndexedSlices) for one in gradients):
        return tf.add_n([tf.convert_to_tensor(one) for one in gradients])
    values, indices = (
        tf.concat([getattr(one, part) for one in gradients], axis=0)
        for part in ("values", "indices")
    )
    return tf.convert_to_tensor(tf.IndexedSlices(values, indices, gradients[0].dense_shape))


def _num_tokens(batch: Sequence[tf.Tensor]) -> tf.Tensor:
    is_token = tf.not_equal(batch[-1], PAD_ID)
    return tf.maximum(tf.math.count_nonzero(is_token, dtype=tf.float32), 1.0)
