"""Speed of matrix products on this machine, and the precision that is faster for training."""

import time
from collections.abc import Mapping

from keras import ops

from keras_attn.translation.config import PRECISIONS
from keras_attn.translation.runtime import devices, threads

# Smallest speed-up of matrix products for which bfloat16 is used: casts between types cost time.
WORTHWHILE_SPEEDUP = 1.3


def measure_speeds() -> dict[str, float]:
    """Operations per second of matrix products in each precision.

    Measured, because processors without support compute bfloat16 slowly instead of failing.
    """
    return {name: _operations_per_second(name) for name in PRECISIONS}


def fastest(speeds: Mapping[str, float]) -> str:
    """Return bfloat16 if its matrix products are clearly faster than in float32, else float32."""
    is_faster = speeds["bfloat16"] >= WORTHWHILE_SPEEDUP * speeds["float32"]
    return "bfloat16" if is_faster else "float32"


def _operations_per_second(dtype: str) -> float:
    # Large enough that starting a product takes little time.
    size = 8192 if devices.accelerators() else 1024
    # A product on each core at the same time: cores may share units.
    matrices = [ops.ones((size, size), dtype) for _ in range(threads.num_parallel_operations())]
    multiply = devices.compiled(
        lambda matrices: [ops.max(ops.matmul(matrix, matrix)) for matrix in matrices]
    )
    multiply(matrices)
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for largest in multiply(matrices):
            float(largest)  # waits for the result, on every device
        times.append(time.perf_counter() - start)
    return len(matrices) * 2 * size**3 / min(times)
