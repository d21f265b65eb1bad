"""Groups of rows, computed one after the other, so that memory does not grow with a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

# Maximum number of positions of a group, padding included. With 8,000 tokens in the vocabulary,
# their logits take 64 MiB.
POSITIONS_AT_ONCE = 2048


def in_groups(
    function: Callable[..., Any], inputs: Sequence[tf.Tensor], positions: tf.Tensor, outputs: Any
) -> Any:
    """Outputs of `function` for a batch, computed group by group.

    Args:
        function: Maps tensors `(rows, ...)` to tensors `(rows, ...)`; each row must be computed by
            itself.
        inputs: Arguments of `function` for the batch, `(B, ...)`. Rows of zeros or empty strings
            are added to complete the last group.
        positions: Number of positions of a row, int32 `()`. A group has as many rows as there are
            in `POSITIONS_AT_ONCE`, at least one.
        outputs: Specs of the outputs, without the first axis.

    Returns:
        The outputs of all rows, in order.
    """
    num_rows = tf.shape(inputs[0])[0]
    fitting = POSITIONS_AT_ONCE // tf.maximum(positions, 1)
    rows = tf.clip_by_value(fitting, 1, tf.maximum(num_rows, 1))
    # At least one group: a loop without a step would not know the shapes of its outputs.
    num_groups = tf.maximum(-(-num_rows // rows), 1)
    missing = num_groups * rows - num_rows

    def grouped(x: tf.Tensor) -> tf.Tensor:
        padded = tf.pad(x, [[0, missing]] + [[0, 0]] * (x.shape.rank - 1), constant_values=_zero(x))
        return tf.reshape(padded, tf.concat([[num_groups, rows], tf.shape(x)[1:]], axis=0))

    found = tf.map_fn(
        lambda group: function(*group),
        tuple(map(grouped, inputs)),
        parallel_iterations=1,
        fn_output_signature=tf.nest.map_structure(
            lambda spec: tf.TensorSpec([None, *spec.shape], spec.dtype), outputs
        ),
    )
    return tf.nest.map_structure(
        lambda x: tf.reshape(x, tf.concat([[num_groups * rows], tf.shape(x)[2:]], 0))[:num_rows],
        found,
    )


def _zero(x: tf.Tensor) -> int | str:
    return "" if x.dtype == tf.string else 0
