"""Compilation of a function by the backend."""

from __future__ import annotations

from collections.abc import Callable

import keras


def function(call: Callable) -> Callable:
    """Compile a function of tensors."""
    if keras.backend.backend() == "jax":
        import jax  # an optional dependency

        return jax.jit(call)
    import tensorflow as tf

    return tf.function(call, autograph=False)
