"""Selection of the fastest floating-point type of this machine."""

from __future__ import annotations

import time

from keras import ops

from keras_attn.translation.config import PRECISIONS
from keras_attn.translation.runtime import compiled, devices

# Smallest speed-up of matrix products for which bfloat16 is used: casts between types cost time.
WORTHWHILE_SPEEDUP = 1.3


def fastest() -> str:
    """Fastest type for training: bfloat16 if matrix products are clearly faster than in float32.

    The speed is measured, because processors report bfloat16 support in many ways, and processors
    without support compute bfloat16 slowly instead of failing.

    Returns:
        `"float32"` or `"bfloat16"`.

    Example:

    >>> fastest() in ("float32", "bfloat16")
    True
    """
    seconds = {name: _seconds_of_a_product(name) for name in PRECISIONS}
    speedup = seconds["float32"] / seconds["bfloat16"]
    return "bfloat16" if speedup >= WORTHWHILE_SPEEDUP else "float32"


def _size() -> int:
    """Number of rows and columns, large enough that starting the product takes little time."""
    return 8192 if devices.accelerators() else 1024


def _seconds_of_a_product(dtype: str) -> float:
    size = _size()
    matrix = ops.ones((size, size), dtype)
    product = compiled.function(lambda matrix: ops.max(ops.matmul(matrix, matrix)))
    product(matrix)
    times = []
    for _ in range(7):
        start = time.perf_counter()
        float(product(matrix))  # waits for the result, on every device
        times.append(time.perf_counter() - start)
    return min(times)
