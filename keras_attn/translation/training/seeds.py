"""Random numbers of a training step as functions of a seed, on each backend."""

from __future__ import annotations

from typing import Any

import keras

if keras.backend.backend() == "jax":
    import jax
    import jax.numpy as jnp

    def of(*numbers: Any) -> Any:
        """Seed `(2,)` made of two integers."""
        return jnp.stack([jnp.asarray(number, "uint32") for number in numbers])

    def split(seed: Any, number: int) -> list[Any]:
        """Independent seeds made of one."""
        return list(jax.random.split(seed, number)) if number else []

    def uniform(shape: tuple[int, ...], seed: Any) -> Any:
        """Numbers from 0 to 1, float32, that follow from the seed."""
        return jax.random.uniform(seed, shape)

else:
    import tensorflow as tf

    def of(*numbers: Any) -> Any:
        """Seed `(2,)` made of two integers."""
        return tf.stack([tf.cast(number, tf.int64) for number in numbers])

    def split(seed: Any, number: int) -> list[Any]:
        """Independent seeds made of one."""
        return tf.unstack(tf.random.split(seed, number)) if number else []

    def uniform(shape: tuple[int, ...], seed: Any) -> Any:
        """Numbers from 0 to 1, float32, that follow from the seed."""
        return tf.random.stateless_uniform(shape, seed)
