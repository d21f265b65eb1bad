"""Thread settings of TensorFlow for this machine."""

import os
from typing import Any

# Maximum number of cores for one operation per core, and for one shard per core.
# Measured on 2 cores. With many cores, shards would be small, and each core reads all weights.
MAX_CORES = 4


def set_intra_op_threads() -> bool:
    """On 2 to 4 cores, let TensorFlow run one operation on each core instead of one on all.

    Cores that share an operation wait for each other (benchmarks/results/training.md). After the
    first operation of TensorFlow, a call has no effect and returns False.
    """
    import tensorflow as tf  # takes seconds

    cores = num_parallel_operations()
    if cores > 1:
        try:
            tf.config.threading.set_intra_op_parallelism_threads(1)
            tf.config.threading.set_inter_op_parallelism_threads(cores)
        except RuntimeError:
            return False
    return True


def num_parallel_operations() -> int:
    """Number of operations that run side by side: one on each of 1 to 4 cores, else one."""
    import tensorflow as tf

    cores = num_cores()
    return 1 if cores > MAX_CORES or tf.config.list_physical_devices("GPU") else cores


def one_core_for_each_shard(loaded: Any, cores: int | None = None) -> None:
    """Let a loaded translator divide a batch among cores, by default all up to `MAX_CORES`."""
    # Another SavedModel, and one of an earlier version of keras_attn, has no such variable.
    if hasattr(loaded, "num_shards"):
        loaded.num_shards.assign(cores or min(num_cores(), MAX_CORES))


def num_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
