"""Shards of a batch: parts with equally many rows, which are searched side by side.

TensorFlow divides each operation among its threads, which then wait for each other. With one thread
for each operation and a shard for each core, no core waits (benchmarks/results/decode.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf

from keras_attn.translation.special_ids import PAD_ID

# Minimum number of rows of a shard. A single row is searched by a compiled program, and programs of
# XLA do not run side by side when each operation has one thread.
MIN_ROWS = 2


def in_shards(
    function: Callable[[tf.Tensor], Sequence[tf.Tensor]],
    source_ids: tf.Tensor,
    num_shards: int | tf.Tensor,
    outputs: Sequence[tf.TensorSpec],
) -> list[tf.Tensor]:
    """Outputs of `function` for a batch of sources, computed in shards of the batch.

    Neighbours go to different shards, so that all shards of a batch in order of length take about
    as long.

    Args:
        function: Maps int32 ids `(rows, S)` to tensors with `rows` as the first axis.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        num_shards: Number of shards, at least 1. Small batches have fewer.
        outputs: Specs of the outputs, without the first axis. Sizes may be unknown.

    Returns:
        The outputs of all rows, in the order of `source_ids`.
    """
    num_rows = tf.shape(source_ids)[0]
    num_shards = tf.clip_by_value(num_rows // MIN_ROWS, 1, num_shards)
    rows_each = -(-num_rows // num_shards)
    missing = rows_each * num_shards - num_rows
    padded = tf.pad(source_ids, [[0, missing], [0, 0]], constant_values=PAD_ID)
    dealt = _swap(tf.reshape(padded, tf.stack([rows_each, num_shards, -1])))
    ids = tf.TensorSpec([None, None], tf.int32)
    of_shard = tf.function(function, input_signature=[ids], autograph=False)
    concrete = of_shard.get_concrete_function()
    # Not `tf.map_fn`, which computes one shard after the other.
    found = tf.raw_ops.MapDefun(
        arguments=[dealt],
        captured_inputs=concrete.captured_inputs,
        f=concrete,
        output_types=[spec.dtype for spec in outputs],
        output_shapes=[[None, *spec.shape] for spec in outputs],
    )
    return [
        tf.reshape(_swap(part), tf.concat([[-1], tf.shape(part)[2:]], 0))[:num_rows]
        for part in found
    ]


def _swap(x: tf.Tensor) -> tf.Tensor:
    """Exchange the first two axes."""
    return tf.transpose(x, [1, 0, *range(2, x.shape.rank)])
