"""Devices of TensorFlow."""

from __future__ import annotations

import tensorflow as tf


def open_devices() -> int:
    """Let TensorFlow open all processors and graphics cards, and return their number.

    Otherwise TensorFlow does so before its first operation, and prints lines about it. Settings of
    threads have no effect afterwards.

    Example:

    >>> open_devices() >= 1
    True
    """
    # oneDNN prints a line about the first integers that it cannot transpose.
    tf.transpose(tf.zeros((1, 1), tf.int64))
    return len(tf.config.list_logical_devices())
