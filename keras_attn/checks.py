"""What arguments must be, said the same way by every layer."""

from __future__ import annotations

import math
import numbers
from typing import Any

import keras
import numpy as np
from keras import ops


def check_positive_integer(name: str, value: Any) -> None:
    """Refuse what is not an integer of 1 or more; True is not one.

    Raises:
        ValueError: If `value` is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"`{name}` must be a positive integer. Received: {name}={value!r}.")


def check_rate(name: str, value: Any) -> None:
    """Refuse what is not a number from 0 up to, but without, 1: a rate of dropout.

    Raises:
        ValueError: If `value` is something else.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise ValueError(
            f"`{name}` must be a number of at least 0 and below 1. Received: {name}={value!r}."
        )


def check_positive_number(name: str, value: Any) -> None:
    """Refuse what is not a finite number above 0.

    Raises:
        ValueError: If `value` is something else.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError(f"`{name}` must be a number above 0. Received: {name}={value!r}.")


def check_boolean(name: str, value: Any) -> None:
    """Refuse what is neither True nor False.

    Raises:
        ValueError: If `value` is something else.
    """
    if not isinstance(value, bool):
        raise ValueError(f"`{name}` must be True or False. Received: {name}={value!r}.")


def check_choice(name: str, value: Any, choices: tuple) -> None:
    """Refuse what is not one of `choices`.

    Raises:
        ValueError: If `value` is something else.
    """
    if value not in choices:
        expected = ", ".join(map(repr, choices))
        raise ValueError(f"`{name}` must be one of {expected}. Received: {name}={value!r}.")


def get_activation(name: str, value: Any) -> Any:
    """The activation function that Keras knows under `value`.

    Raises:
        ValueError: If Keras knows none.
    """
    try:
        found = keras.activations.get(value)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"`{name}` must be a function, or a name that keras.activations.get knows. "
            f"Received: {name}={value!r}."
        ) from error
    return found


def check_start(start: Any) -> None:
    """Refuse a first position below 0, or that is no integer; a tensor's value is not looked into.

    Raises:
        ValueError: If `start` is something else.
    """
    if hasattr(start, "shape") and not isinstance(start, numbers.Number):
        dtype = keras.backend.standardize_dtype(start.dtype)
        if len(start.shape) or "int" not in dtype:
            raise ValueError(
                "`start` must be an integer or a scalar tensor of one. "
                f"Received: start.shape={tuple(start.shape)}, start.dtype={dtype}."
            )
        return
    if isinstance(start, bool) or not isinstance(start, numbers.Integral) or start < 0:
        raise ValueError(
            "`start` must be an integer of at least 0, or a scalar tensor of one. "
            f"Received: start={start!r}."
        )


def check_layout(name: str, x: Any, layout: str) -> None:
    """Refuse a tensor, or a shape, that has not one size for each letter of `layout`.

    Raises:
        ValueError: If the rank is another.
    """
    shape = tuple(getattr(x, "shape", x))
    if len(shape) != len(layout):
        raise ValueError(
            f"`{name}` must have shape ({', '.join(layout)}). Received: {name}.shape={shape}."
        )


def check_integers(name: str, x: Any) -> None:
    """Refuse what holds no integers: floats may have been rounded already.

    Raises:
        ValueError: If the dtype is another.
    """
    dtype = _dtype_of(x)
    if "int" not in dtype:
        raise ValueError(
            f"`{name}` must be integers. Received: {name}.dtype={dtype}. "
            'Cast them, or declare the input with dtype="int32".'
        )


def check_lengths(name: str, lengths: Any, num_keys: Any) -> None:
    """Refuse lengths that are no integers or, where their values can be seen, not in `[0, S]`.

    Args:
        name: Of the argument.
        lengths: The valid lengths.
        num_keys: `S`; anything but an integer if it is known at run time only.

    Raises:
        ValueError: If they are something else.
    """
    check_integers(name, lengths)
    values = known_values(lengths)
    if values is None or not values.size:
        return
    ends = int(values.min()), int(values.max())
    limit = num_keys if isinstance(num_keys, int) and not is_tracing_shapes() else ends[1]
    if ends[0] < 0 or ends[1] > limit:
        raise ValueError(
            f"`{name}` must be at least 0 and at most S={num_keys}, the number of keys. "
            f"Received: {name}={values.tolist() if values.size < 20 else ends}."
        )


def check_mask(name: str, mask: Any) -> None:
    """Refuse a mask of floats: added to scores it would mean the opposite of True = may attend.

    Raises:
        ValueError: If it is neither boolean nor of integers.
    """
    dtype = _dtype_of(mask)
    if dtype != "bool" and "int" not in dtype:
        raise ValueError(
            f"`{name}` must be boolean, True = may attend. Received: {name}.dtype={dtype}. "
            'Compare it (`mask > 0`), or declare the input with dtype="bool".'
        )


def _dtype_of(x: Any) -> str:
    return keras.backend.standardize_dtype(x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype)


def known_values(x: Any) -> np.ndarray | None:
    """The values of an array or eager tensor; None for a tensor whose values come later."""
    try:
        return np.asarray(ops.convert_to_numpy(x) if hasattr(x, "dtype") else x)
    except (TypeError, ValueError, RuntimeError):  # as backends differ in what they raise
        return None


def is_tracing_shapes() -> bool:
    """Whether Keras calls a layer for its shapes only; a length may then be a made-up number."""
    with keras.SymbolicScope() as scope:
        return scope.original_scope is not None
