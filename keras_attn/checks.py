"""What the arguments of a constructor must be, said the same way by every layer."""

from __future__ import annotations

import math
import numbers
from typing import Any

import keras


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
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= value < 1:
        raise ValueError(
            f"`{name}` must be a number of at least 0 and below 1. Received: {name}={value!r}."
        )


def check_positive_number(name: str, value: Any) -> None:
    """Refuse what is not a finite number above 0.

    Raises:
        ValueError: If `value` is something else.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value < math.inf:
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
