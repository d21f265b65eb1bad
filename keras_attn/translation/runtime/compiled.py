"""Compilation of functions by the backend."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras

if keras.backend.backend() == "jax":
    import jax

    def function(call: Callable) -> Callable:
        """Compile a function of tensors."""
        return jax.jit(call)

    def update(call: Callable[..., None], variables: Sequence[keras.Variable]) -> Callable:
        """Compile a function that reads and assigns `variables` and no others."""

        @jax.jit
        def values_after(values: list[Any], *arguments: Any) -> list[Any]:
            scope = keras.StatelessScope(state_mapping=zip(variables, values, strict=True))
            with scope:
                call(*arguments)
            return [scope.get_current_value(variable) for variable in variables]

        def assign(*arguments: Any) -> None:
            values = values_after([variable.value for variable in variables], *arguments)
            for variable, value in zip(variables, values, strict=True):
                variable.assign(value)

        return assign

    def keep(folder: Path) -> None:
        """Keep compiled programs in a folder for later processes, unless the user chose another."""
        if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
            jax.config.update("jax_compilation_cache_dir", str(folder))

else:
    import tensorflow as tf

    def function(call: Callable) -> Callable:
        """Compile a function of tensors."""
        return tf.function(call, autograph=False)

    def update(call: Callable[..., None], variables: Sequence[keras.Variable]) -> Callable:
        """Compile a function that reads and assigns `variables` and no others."""
        return tf.function(call, autograph=False)

    def keep(folder: Path) -> None:
        """Nothing: TensorFlow's programs belong to a process."""
