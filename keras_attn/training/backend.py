"""Operations of a training step that Keras lacks, of TensorFlow or of JAX (`jax_backend.py`)."""

from collections.abc import Callable, Sequence
from typing import Any

import keras

if keras.backend.backend() == "jax":
    from keras_attn.training.jax_backend import (  # noqa: F401
        HAS_FIXED_SHAPES,
        columns_of_rows,
        compile_update,
        make_seed,
        split_seed,
        uniform,
    )
else:
    import tensorflow as tf

    HAS_FIXED_SHAPES = False  # whether the shapes of a compiled step are constants

    def make_seed(*numbers: Any) -> Any:
        """Seed `(2,)` made of two integers."""
        return tf.stack([tf.cast(number, tf.int64) for number in numbers])

    def split_seed(seed: Any, number: int) -> list[Any]:
        """Independent seeds made of one."""
        return tf.unstack(tf.random.split(seed, number)) if number else []

    def uniform(shape: tuple[int, ...], seed: Any) -> Any:
        """Numbers from 0 to 1, float32, that follow from the seed."""
        return tf.random.stateless_uniform(shape, seed)

    def columns_of_rows(rows: Any, columns: Any) -> Any:
        """Element of each row `(N, C)` in a column `(N,)` of its own."""
        return tf.gather(rows, columns, batch_dims=1)  # `take_along_axis` copies all rows

    def compile_update(call: Callable[..., None], variables: Sequence[keras.Variable]) -> Callable:
        """Compile a function that reads and assigns `variables` and no others."""
        return tf.function(call, autograph=False)
