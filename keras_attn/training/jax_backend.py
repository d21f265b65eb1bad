"""Operations of a training step on JAX, for `backend.py`."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
from keras import ops

HAS_FIXED_SHAPES = True


def make_seed(*numbers: Any) -> Any:
    """Seed `(2,)` made of two integers."""
    return jnp.stack([jnp.asarray(number, "uint32") for number in numbers])


def split_seed(seed: Any, number: int) -> list[Any]:
    """Independent seeds made of one."""
    return list(jax.random.split(seed, number)) if number else []


def uniform(shape: tuple[int, ...], seed: Any) -> Any:
    """Numbers from 0 to 1, float32, that follow from the seed."""
    return jax.random.uniform(seed, shape)


def columns_of_rows(rows: Any, columns: Any) -> Any:
    """Element of each row `(N, C)` in a column `(N,)` of its own."""
    return ops.take_along_axis(rows, columns[:, None], axis=1)[:, 0]


def compile_update(call: Callable[..., None], variables: Sequence[keras.Variable]) -> Callable:
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
