"""Backend, threads and devices of a training. This module imports Keras only when it opens them."""

import os
from importlib.util import find_spec

from keras_attn.cli import missing
from keras_attn.translation.runtime import native_output


def open_backend() -> None:
    """Choose and open the backend of the training; all else runs on TensorFlow."""
    on_jax = os.environ.get("KERAS_BACKEND") == "jax"
    os.environ["KERAS_BACKEND"] = "jax" if on_jax else "tensorflow"
    if on_jax and find_spec("jax") is None:
        raise ValueError(f"KERAS_BACKEND=jax: {missing('jax', 'jax')}")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # Products are faster with oneDNN on all processors (benchmarks/results/training.md).
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    with native_output.suppress_native_stderr():
        from keras_attn.translation.runtime import allocator, devices, threads
        from keras_attn.translation.training.jax import devices as jax_devices

        threads.set_intra_op_threads()
        jax_devices.connect()
        devices.open_devices()
    allocator.keep_freed_memory()
