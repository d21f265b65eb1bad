"""Fastest floating-point type of this machine."""

from __future__ import annotations

import time

import tensorflow as tf

from keras_attn.translation.config import PRECISIONS

# bfloat16 has to pay for the casts around each product before a training step gains from it.
WORTHWHILE_SPEEDUP = 1.3


def fastest() -> str:
    """`"bfloat16"` where a matrix product is clearly faster in it than in float32.

    Measured and not looked up: processors name the ability in many ways, and those without it
    compute bfloat16 too, slowly.

    Returns:
        `"float32"` or `"bfloat16"`.

    Example:

    >>> fastest() in ("float32", "bfloat16")
    True
    """
    seconds = {name: _seconds_of_a_product(name) for name in PRECISIONS}
    speedup = seconds["float32"] / seconds["bfloat16"]
    return "bfloat16" if speedup >= WORTHWHILE_SPEEDUP else "float32"


def _seconds_of_a_product(dtype: str) -> float:
    matrix = tf.ones((1024, 1024), dtype)
    product = tf.function(lambda: tf.reduce_max(tf.matmul(matrix, matrix)))
    product()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        product().numpy()  # waits for the result, on every device
        times.append(time.perf_counter() - start)
    return min(times)
