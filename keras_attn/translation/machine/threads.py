"""TensorFlow's threads on the cores of this machine."""

from __future__ import annotations

import contextlib
import os

import tensorflow as tf

# Measured on 2. With many, shards would be small, and each core would read all weights for its own.
MAX_SHARDS = 4


def one_core_for_each_operation() -> None:
    """On few cores, let TensorFlow run as many operations at once as there are cores.

    By itself it divides each operation among all cores, which then wait for each other
    (benchmarks/results/training.md). Once it has computed something, its threads stay as they are.
    """
    cores = num_cores()
    if 1 < cores <= MAX_SHARDS and not tf.config.list_physical_devices("GPU"):
        with contextlib.suppress(RuntimeError):
            tf.config.threading.set_intra_op_parallelism_threads(1)
            tf.config.threading.set_inter_op_parallelism_threads(cores)


def num_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
