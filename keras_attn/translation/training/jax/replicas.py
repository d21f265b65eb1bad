"""Data-parallel training on JAX: each device processes a shard of the batch."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import keras
from jax.flatten_util import ravel_pytree
from jax.sharding import PartitionSpec

from keras_attn.training.backend import split_seed
from keras_attn.training.model_loss import ModelLoss


def loss_and_gradients(
    loss_of: ModelLoss,
    weights: Sequence[keras.Variable],
    others: Sequence[keras.Variable],
    batch: Sequence[Any],
    seed: Any,
) -> tuple[Any, list[Any]]:
    """Mean loss per token of a batch and the gradients, each device with its rows and its dropout.

    All gradients are summed over the devices as one array. XLA would sum each by itself, and the
    devices of several processes would wait for each other as many times. `others` are all variables
    of the model but `weights`.
    """
    distribution = keras.distribution.distribution()
    axis = distribution.batch_dim_name
    whole, rows = PartitionSpec(), PartitionSpec(axis)

    # Without `check_vma`, JAX leaves the sum of the gradients over the devices to this function.
    @partial(
        jax.shard_map,
        mesh=distribution.device_mesh.backend_mesh,
        in_specs=(whole, whole, rows, whole),
        out_specs=whole,
        check_vma=False,
    )
    def of_device(values: Any, others_values: Any, shard: Any, seed: Any) -> Any:
        inputs, targets = shard
        all_targets = jax.lax.all_gather(targets, axis, tiled=True)
        first, second = split_seed(seed, 2)
        second = jax.random.fold_in(second, jax.lax.axis_index(axis))

        def loss_of_shard(values: Any) -> Any:
            pairs = [*zip(weights, values, strict=True), *zip(others, others_values, strict=True)]
            with keras.StatelessScope(state_mapping=pairs):
                of_batch = loss_of.share(all_targets, first)
                return loss_of.of_shard(*of_batch, inputs, targets, None, second)

        joined, separate = ravel_pytree(jax.value_and_grad(loss_of_shard)(values))
        return separate(jax.lax.psum(joined, axis))

    values, others_values = ([one.value for one in group] for group in (weights, others))
    return of_device(values, others_values, tuple(batch[:2]), seed)
