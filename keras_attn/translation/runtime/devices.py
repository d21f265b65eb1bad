"""Devices of the backend, functions compiled for them, and a description of the machine."""

import platform
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import keras
import tensorflow as tf

from keras_attn.translation.runtime.threads import num_cores


def open_devices() -> int:
    """Let TensorFlow open all devices, which prints lines, and return their number.

    Settings of threads have no effect afterwards.
    """
    # oneDNN prints a line about the first integers that it cannot transpose.
    tf.transpose(tf.zeros((1, 1), tf.int64))
    return len(tf.config.list_logical_devices())


def accelerators() -> list[str]:
    """Names of the graphics cards and other accelerators of all processes that train together."""
    if keras.backend.backend() == "jax":
        import jax  # an optional dependency

        return [device.device_kind for device in jax.devices() if device.platform != "cpu"]
    cards = tf.config.list_physical_devices("GPU")
    found = map(tf.config.experimental.get_device_details, cards)
    return [details.get("device_name", "GPU") for details in found]


def compiled(call: Callable) -> Callable:
    """Compile a function of tensors by the backend."""
    if keras.backend.backend() == "jax":
        import jax  # an optional dependency

        return jax.jit(call)
    return tf.function(call, autograph=False)


def describe() -> str:
    """Processor, number of cores and graphics cards, for reports."""
    cores, cards = num_cores(), Counter(accelerators()).items()
    parts = [f"{number} × {name}" if number > 1 else name for name, number in cards]
    return ", ".join([_processor(), f"{cores} CPU core{'s' * (cores != 1)}", *parts])


def _processor() -> str:
    path = Path("/proc/cpuinfo")  # of Linux
    for line in path.read_text().splitlines() if path.is_file() else ():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return f"{value.strip()} ({platform.machine()})"
    return platform.machine()
