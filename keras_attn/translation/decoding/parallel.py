"""A batch in parts: shards, computed side by side, or groups, computed one after the other.

TensorFlow divides each operation among its threads, which then wait for each other. With one thread
for each operation and a shard for each core, no core waits (benchmarks/results/decode.md). Groups
keep memory small: it does not grow with a batch.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from keras_attn.translation.special_ids import PAD_ID

# Minimum number of rows of a shard. A single row would need a compiled program (`Search`).
MIN_ROWS = 2
# Maximum number of positions of a group, padding included. With 8,000 tokens in the vocabulary,
# their logits take 64 MiB.
MAX_POSITIONS = 2048


def in_shards(
    function: Callable[[tf.Tensor], Sequence[tf.Tensor]],
    source_ids: tf.Tensor,
    num_shards: int | tf.Tensor,
    outputs: Sequence[tf.TensorSpec],
) -> list[tf.Tensor]:
    """Outputs of `function` for sources `(B, S)`, computed in at most `num_shards` side by side.

    Neighbours are in different shards, so that all shards of a batch in order of length take about
    as long. `outputs` are specs without the first axis; sizes may be unknown.
    """
    num_rows = tf.shape(source_ids)[0]
    num_shards = tf.clip_by_value(num_rows // MIN_ROWS, 1, num_shards)
    rows_each = -(-num_rows // num_shards)
    dealt = _swap(_split(source_ids, rows_each, num_shards, PAD_ID))
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
    return [_joined(_swap(part), num_rows) for part in found]


def in_groups(
    function: Callable[..., Any], inputs: Sequence[tf.Tensor], positions: tf.Tensor, outputs: Any
) -> Any:
    """Outputs of `function` for inputs `(B, ...)`, computed in groups one after the other.

    A group has rows of `positions` positions, up to `MAX_POSITIONS` in all. Rows of zeros or empty
    strings complete the last group. `outputs` are specs without the first axis.
    """
    num_rows = tf.shape(inputs[0])[0]
    fitting = MAX_POSITIONS // tf.maximum(positions, 1)
    rows_each = tf.clip_by_value(fitting, 1, tf.maximum(num_rows, 1))
    # At least one group: a loop without a step would not know the shapes of its outputs.
    num_groups = tf.maximum(-(-num_rows // rows_each), 1)
    found = tf.map_fn(
        lambda group: function(*group),
        tuple(_split(x, num_groups, rows_each, "" if x.dtype == tf.string else 0) for x in inputs),
        parallel_iterations=1,
        fn_output_signature=tf.nest.map_structure(
            lambda spec: tf.TensorSpec([None, *spec.shape], spec.dtype), outputs
        ),
    )
    return tf.nest.map_structure(lambda part: _joined(part, num_rows), found)


def _split(x: tf.Tensor, rows: tf.Tensor, columns: tf.Tensor, padding: int | str) -> tf.Tensor:
    """Reshape `(B, ...)` to `(rows, columns, ...)`, padded at the end."""
    paddings = [[0, rows * columns - tf.shape(x)[0]]] + [[0, 0]] * (x.shape.rank - 1)
    padded = tf.pad(x, paddings, constant_values=padding)
    return tf.reshape(padded, tf.concat([[rows, columns], tf.shape(x)[1:]], axis=0))


def _joined(x: tf.Tensor, num_rows: tf.Tensor) -> tf.Tensor:
    """Reshape `(rows, columns, ...)` to `(num_rows, ...)`, without the padding."""
    shape = tf.shape(x)
    return tf.reshape(x, tf.concat([[shape[0] * shape[1]], shape[2:]], axis=0))[:num_rows]


def _swap(x: tf.Tensor) -> tf.Tensor:
    """Exchange the first two axes."""
    return tf.transpose(x, [1, 0, *range(2, x.shape.rank)])
