"""Devices of TensorFlow, and a description of the machine."""

from __future__ import annotations

import platform
from pathlib import Path

import tensorflow as tf

from keras_attn.translation.machine.threads import num_cores


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


def describe() -> str:
    """Processor, number of cores and graphics cards, for reports.

    Example:

    >>> describe().count(" CPU core")
    1
    """
    cores = num_cores()
    parts = [f"{_processor()}, {cores} CPU core{'s' * (cores != 1)}"]
    for card in tf.config.list_physical_devices("GPU"):
        details = tf.config.experimental.get_device_details(card)
        parts.append(details.get("device_name", card.name))
    return ", ".join(parts)


def _processor() -> str:
    path = Path("/proc/cpuinfo")  # of Linux
    for line in path.read_text().splitlines() if path.is_file() else ():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return f"{value.strip()} ({platform.machine()})"
    return platform.machine()
