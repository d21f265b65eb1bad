"""Sizes of tensors, with few operations in a graph."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops


def sizes(x: Any) -> tuple:
    """Return the sizes of `x`: integers where they are known, else tensors, as of `ops.shape`.

    On TensorFlow, `ops.shape` adds four operations to a graph for each unknown size. This adds one
    for all of them.
    """
    is_symbolic = isinstance(x, keras.KerasTensor)
    if keras.backend.backend() != "tensorflow" or is_symbolic or None not in tuple(x.shape):
        return ops.shape(x)
    import tensorflow as tf

    at_run_time = tf.unstack(tf.shape(x))
    return tuple(at_run_time[i] if size is None else size for i, size in enumerate(x.shape))


def kept_sizes(x: Any) -> tuple:
    """Return the sizes of `x` for a reshape, with -1 in place of a single unknown size.

    A size that is known only at run time would need operations of its own.
    """
    if tuple(x.shape).count(None) == 1 and 0 not in x.shape:
        return tuple(-1 if size is None else size for size in x.shape)
    return sizes(x)
