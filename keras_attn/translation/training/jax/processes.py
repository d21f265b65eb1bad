"""Processes that train one model together: on JAX, one or several for each host.

The environment variables of `keras.distribution.initialize` tell a process of the others:

    KERAS_DISTRIBUTION_JOB_ADDRESSES=10.0.0.1:1234     # address of process 0
    KERAS_DISTRIBUTION_NUM_PROCESSES=2
    KERAS_DISTRIBUTION_PROCESS_ID=0
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import keras
import numpy as np
import tensorflow as tf

from keras_attn.layers.sharding import LOGITS, layout_map
from keras_attn.translation.batching.batches import Shard
from keras_attn.translation.config import Config

Value = TypeVar("Value")

_NUM_PROCESSES = "KERAS_DISTRIBUTION_NUM_PROCESSES"


def join() -> None:
    """Connect to the other processes, and share each batch between all devices of all processes.

    Call this before JAX computes anything.

    Raises:
        ValueError: If the backend is not JAX and there are several processes.
        OSError: If the other processes cannot be reached.
    """
    several = int(os.environ.get(_NUM_PROCESSES, "1")) > 1
    if keras.backend.backend() != "jax":
        if several:
            raise ValueError(
                "Several processes train on JAX only. "
                f"Received: {_NUM_PROCESSES}={os.environ[_NUM_PROCESSES]}. Set KERAS_BACKEND=jax."
            )
        return
    # TensorFlow prepares batches and files here: the memory of a GPU belongs to JAX.
    tf.config.set_visible_devices([], "GPU")
    if several:
        try:
            keras.distribution.initialize()
        except RuntimeError as error:
            raise OSError(f"The other processes cannot be reached: {error}") from error
    if num_devices() > 1:
        keras.distribution.set_distribution(
            keras.distribution.DataParallel(auto_shard_dataset=False)
        )


def check_parts(num_parts: int) -> None:
    """Check that the devices can be divided into groups for a copy of the weights each.

    Args:
        num_parts: Number of devices of a group.

    Raises:
        ValueError: If they cannot.
    """
    given = f"Received: --model-devices {num_parts}"
    if num_parts < 1:
        raise ValueError(f"--model-devices must be at least 1. {given}.")
    if num_parts == 1:
        return
    if keras.backend.backend() != "jax" or count() > 1:
        raise ValueError(
            "A model is split over the devices of one process, on JAX only "
            f"(KERAS_BACKEND=jax). {given}, {keras.backend.backend()}, {count()} process(es)."
        )
    if num_devices() % num_parts:
        raise ValueError(
            "The number of devices must be a multiple of --model-devices. "
            f"{given}, {num_devices()} device(s)."
        )


def split_model(num_parts: int, model: Config, num_logits: int) -> None:
    """Split the weights of the model over devices, if they are more than one.

    The devices of each such group compute the same rows of a batch. Call this before the model is
    made.

    Args:
        num_parts: Number of devices for a copy of the weights.
        model: Sizes of the model.
        num_logits: Number of tokens in the target vocabulary.

    Raises:
        ValueError: If the devices or the sizes cannot be divided so.
    """
    check_parts(num_parts)
    if num_parts == 1:
        return
    sizes = {
        "--num-heads": model.num_heads,
        "--num-kv-heads": model.num_kv_heads or model.num_heads,
        "--num-hiddens": model.num_hiddens,
        "--ffn-num-hiddens": model.ffn_num_hiddens,
    }
    odd = [f"{name} {size}" for name, size in sizes.items() if size % num_parts]
    if odd:
        raise ValueError(
            "All sizes of the model must be multiples of --model-devices. "
            f"Received: --model-devices {num_parts}, {', '.join(odd)}."
        )
    devices = keras.distribution.list_devices()
    shape = (len(devices) // num_parts, num_parts)
    layouts = layout_map(keras.distribution.DeviceMesh(shape, ("batch", "model"), devices))
    if num_logits % num_parts:  # each device has all of them
        for weight in ("kernel", "bias"):
            del layouts[f"{LOGITS}/{weight}"]
    keras.distribution.set_distribution(
        keras.distribution.ModelParallel(
            layout_map=layouts, batch_dim_name="batch", auto_shard_dataset=False
        )
    )


def count() -> int:
    """Number of processes."""
    return _jax().process_count() if keras.backend.backend() == "jax" else 1


def index() -> int:
    """Number of this process, from 0."""
    return _jax().process_index() if keras.backend.backend() == "jax" else 0


def is_first() -> bool:
    """Whether this process decides, validates, and writes files: process 0."""
    return index() == 0


def num_devices() -> int:
    """Number of devices, or of groups of devices, that share a batch; 1 on TensorFlow."""
    if keras.backend.backend() != "jax":
        return 1
    distribution = keras.distribution.distribution()
    if isinstance(distribution, keras.distribution.ModelParallel):
        return distribution.device_mesh.shape[0]
    return _jax().device_count()


def shard() -> Shard | None:
    """Share of this process in each batch, or None on TensorFlow, which takes any batch whole."""
    if keras.backend.backend() != "jax":
        return None
    return Shard(index(), count(), num_devices())


def leave() -> None:
    """Part from the other processes after training, so that none waits for the export."""
    if count() > 1:
        _jax().distributed.shutdown()


def by_first(call: Callable[[], Value]) -> Value:
    """Result of a call that process 0 makes for all processes, which wait for it.

    Args:
        call: Function whose result can be pickled.
    """
    if count() == 1:
        return call()
    from jax.experimental.multihost_utils import broadcast_one_to_all

    made = pickle.dumps(call()) if is_first() else b""
    with ending_together():
        data = np.frombuffer(made, np.uint8)
        size = int(broadcast_one_to_all(np.int32(len(data))))
        padded = np.zeros(size, np.uint8)
        padded[: len(data)] = data
        return pickle.loads(np.asarray(broadcast_one_to_all(padded), np.uint8).tobytes())


def in_any(flag: bool) -> bool:
    """Whether the flag is set in any process; they all wait for each other.

    Args:
        flag: Flag of this process.
    """
    if count() == 1:
        return flag
    from jax.experimental.multihost_utils import process_allgather

    with ending_together():
        return bool(np.any(process_allgather(np.bool_(flag))))


@contextmanager
def ending_together() -> Iterator[None]:
    """End this process with a message if JAX raises an error because another process has ended.

    The process ends at once: an ordinary end would wait for the other process.
    """
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
        os._exit(2)


def _jax() -> Any:
    import jax  # an optional dependency

    return jax
