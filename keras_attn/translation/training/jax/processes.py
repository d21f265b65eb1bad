"""Processes that train one model together: one or several on JAX, always one on TensorFlow."""

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import keras
import numpy as np

Value = TypeVar("Value")


if keras.backend.backend() == "jax":
    import jax  # an optional dependency
    from jax.experimental import multihost_utils


def count() -> int:
    """Number of processes."""
    return jax.process_count() if keras.backend.backend() == "jax" else 1


def index() -> int:
    """Number of this process, from 0."""
    return jax.process_index() if keras.backend.backend() == "jax" else 0


def is_primary() -> bool:
    """Whether this process decides, validates, and writes files: process 0."""
    return index() == 0


def shutdown() -> None:
    """Disconnect from the other processes after training, so that none waits for the export."""
    if count() > 1:
        jax.distributed.shutdown()


def broadcast_from_primary(call: Callable[[], Value]) -> Value:
    """Result of a call in process 0, pickled for the other processes, which wait for it."""
    if count() == 1:
        return call()
    made = pickle.dumps(call()) if is_primary() else b""
    with abort_together():
        data = np.frombuffer(made, np.uint8)
        size = int(multihost_utils.broadcast_one_to_all(np.int32(len(data))))
        padded = np.zeros(size, np.uint8)
        padded[: len(data)] = data
        received = np.asarray(multihost_utils.broadcast_one_to_all(padded), np.uint8)
        return pickle.loads(received.tobytes())


def any_process(flag: bool) -> bool:
    """Whether the flag is set in any process; they all wait for each other."""
    if count() == 1:
        return flag
    with abort_together():
        return bool(np.any(multihost_utils.process_allgather(np.bool_(flag))))


@contextmanager
def abort_together() -> Iterator[None]:
    """End this process with a message if JAX raises an error because another process has ended."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        # JAX raises either type for a broken connection, without a type of its own.
        is_of_jax = type(error).__name__ == "JaxRuntimeError" or "Gloo" in str(error)
        if count() == 1 or not is_of_jax or "RESOURCE_EXHAUSTED" in str(error):
            raise
        print(
            "error: Another process of this training has ended. Run the same command in all "
            f"processes to resume from the last checkpoint ({str(error).splitlines()[0]}).",
            file=sys.stderr,
            flush=True,
        )
        os._exit(2)  # an ordinary end would wait for the other process
