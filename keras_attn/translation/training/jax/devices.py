"""Devices of a training on JAX, of one process or of several (`keras.distribution.initialize`)."""

import os
from pathlib import Path

import keras
import tensorflow as tf

from keras_attn.layers.sharding import LOGITS, layout_map
from keras_attn.translation.batching.batches import Shard
from keras_attn.translation.config import Config
from keras_attn.translation.training.jax.processes import count, index

_NUM_PROCESSES = "KERAS_DISTRIBUTION_NUM_PROCESSES"


def connect() -> None:
    """Connect to the other processes, before JAX computes anything; share batches among devices."""
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


def check_model_devices(num_parts: int) -> None:
    """Check that the devices can be divided into groups of `num_parts`, one for each copy."""
    given = f"Received: --model-devices {num_parts}"
    if num_parts == 1:
        return
    if num_parts < 1:
        raise ValueError(f"--model-devices must be at least 1. {given}.")
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
    """Split each copy of the weights of a model to be made over `num_parts` devices."""
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


def keep_programs(folder: Path) -> None:
    """Keep compiled programs in a folder for later processes, unless the user chose another."""
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        import jax  # an optional dependency

        jax.config.update("jax_compilation_cache_dir", str(folder))


def num_devices() -> int:
    """Number of devices, or of groups of devices, that share a batch; 1 on TensorFlow."""
    if keras.backend.backend() != "jax":
        return 1
    distribution = keras.distribution.distribution()
    if isinstance(distribution, keras.distribution.ModelParallel):
        return distribution.device_mesh.shape[0]
    return len(keras.distribution.list_devices())


def shard() -> Shard | None:
    """Share of this process in each batch, or None on TensorFlow, which takes any batch whole."""
    if keras.backend.backend() != "jax":
        return None
    return Shard(index(), count(), num_devices())
