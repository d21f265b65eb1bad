"""Data-parallel training on one CPU: each core processes a shard of the batch."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from keras_attn.training.model_loss import ModelLoss, Shared, Whole


def loss_and_gradients(
    loss_of: ModelLoss,
    num_shards: int,
    batch: tuple[Any, Any, Any],
    seed: tf.Tensor,
    scale: Callable[[tf.Tensor], tf.Tensor] = lambda loss: loss,
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Mean loss of a batch and a gradient for each weight, computed in parallel shards.

    A batch is inputs, targets and sample weights or None. The tensors common to all shards are
    computed once from the weights. The gradients of these tensors are summed over the shards before
    they are propagated to the weights. The numbers of examples of the shards differ by at most one,
    and each shard has different dropout. The gradients are those of the loss after `scale`.
    """
    targets = batch[1]
    num_rows = tf.shape(targets)[0]
    first, *seeds = tf.unstack(tf.random.split(seed, num_shards + 1))

    @tf.function(reduce_retracing=True, autograph=False)  # traced once for all shards
    def of_shard(shared: Shared, whole: Whole, shard: Any, shard_seed: tf.Tensor):
        inputs, targets, sample_weight = shard
        with tf.GradientTape() as tape:
            tape.watch(shared)
            loss = loss_of.of_shard(shared, whole, inputs, targets, sample_weight, shard_seed)
            scaled = scale(loss)
        return loss, tape.gradient(scaled, tf.nest.flatten(shared))

    with tf.GradientTape() as tape:
        shared, whole = loss_of.share(targets, first)
    losses, gradients = [], []
    for number, shard_seed in enumerate(seeds):
        begin, end = (num_rows * place // num_shards for place in (number, number + 1))
        shard = tf.nest.map_structure(lambda x: x if x is None else x[begin:end], batch)  # noqa: B023
        loss, found = of_shard(shared, whole, shard, shard_seed)
        losses.append(loss)
        gradients.append(found)
    # A tensor that the loss does not depend on has no gradient: a weight that no layer uses.
    totals = {
        place: _total(found)
        for place, found in enumerate(zip(*gradients, strict=True))
        if found[0] is not None
    }
    tensors = tf.nest.flatten(shared)
    of_weights = tape.gradient(
        [tensors[place] for place in totals],
        [weight.value for weight in loss_of.weights],
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
