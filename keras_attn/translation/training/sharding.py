"""Data-parallel training on one CPU: each core processes a shard of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import tensorflow as tf

from keras_attn.translation.machine import threads
from keras_attn.translation.special_ids import PAD_ID

# Fewest tokens of a shard, so that tiny batches are not divided.
MIN_SHARD_TOKENS = 64


def num_shards(batch_tokens: int) -> int:
    """Number of shards of a batch, from the cores that this process may use.

    It does not depend on TensorFlow's thread settings, so a training in a notebook has the same
    shards, and with them the same dropout, as `train.py`.

    Args:
        batch_tokens: Largest number of source and target tokens in a batch.

    Returns:
        One shard for each core, each of at least `MIN_SHARD_TOKENS` tokens; 1 with a GPU and with
        more cores than `threads.MAX_CORES`.

    Example:

    >>> num_shards(batch_tokens=100)
    1
    """
    cores = threads.num_cores()
    if cores > threads.MAX_CORES or tf.config.list_physical_devices("GPU"):
        return 1
    return max(1, min(cores, batch_tokens // MIN_SHARD_TOKENS))


class ShardedLoss(Protocol):
    """A mean over the tokens of a batch that can be computed in shards, as `TrainingLoss` is."""

    def share(self, target_out: tf.Tensor, seed: tf.Tensor) -> tuple[Any, Any]:
        """What all shards need: tensors made of the weights, and what has no gradient.

        Of `target_out (B, T)` of the whole batch and a seed `(2,)`.
        """

    def of_shard(self, made: Any, others: Any, *shard: tf.Tensor) -> tf.Tensor:
        """The mean over the tokens of a shard, a scalar.

        Of `source (B, S)`, `target_in (B, T)`, `target_out (B, T)` and a seed `(2,)`.
        """


def loss_and_gradients(
    sharded: ShardedLoss,
    weights: Sequence[tf.Variable],
    batch: Sequence[tf.Tensor],
    seed: tf.Tensor,
    num_shards: int,
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """The mean loss of a token of a batch and its gradients, computed in shards side by side.

    What shards share is made of the weights once, and its gradients go back to them once.

    Args:
        sharded: `TrainingLoss`, or another mean over the tokens of a batch.
        weights: What the gradients are for.
        batch: Source, target_in and target_out, integers `(B, S)`, `(B, T)`, `(B, T)`.
        seed: Of dropout and sample, integers `(2,)`; each shard drops by itself.
        num_shards: How many shards, of as many pairs each, or one more.

    Returns:
        The loss, a float32 scalar, and for each weight its gradient.
    """
    num_pairs = tf.shape(batch[0])[0]
    num_tokens = _num_tokens(batch)
    first, *seeds = tf.unstack(tf.random.split(seed, num_shards + 1))

    @tf.function(reduce_retracing=True, autograph=False)  # traced once for all shards
    def of_shard(made: Any, others: Any, shard: Sequence[tf.Tensor], shard_seed: tf.Tensor):
        with tf.GradientTape() as tape:
            tape.watch(made)
            loss = sharded.of_shard(made, others, *shard, shard_seed)
            loss *= _num_tokens(shard) / num_tokens
        return loss, tape.gradient(loss, tf.nest.flatten(made))

    with tf.GradientTape() as tape:
        made, others = sharded.share(batch[-1], first)
    losses, gradients = [], []
    for number, shard_seed in enumerate(seeds):
        begin, end = (num_pairs * place // num_shards for place in (number, number + 1))
        loss, found = of_shard(made, others, [ids[begin:end] for ids in batch], shard_seed)
        losses.append(loss)
        gradients.append(found)
    totals = [_total(found) for found in zip(*gradients, strict=True)]
    return tf.add_n(losses), tape.gradient(tf.nest.flatten(made), weights, totals)


def _total(gradients: Sequence[tf.Tensor | tf.IndexedSlices]) -> tf.Tensor:
    """The sum; of rows of a table it is made once, with all of them."""
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
