"""Checks of arguments, with the same wording in every layer."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
from keras import ops


def check_positive_integer(name: str, value: Any) -> int:
    """Return `value` as an `int`; NumPy integers are accepted, booleans are not.

    Raises:
        ValueError: If `value` is not an integer of at least 1.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"`{name}` must be a positive integer. Received: {name}={value!r}.")
    return int(value)


def check_rate(name: str, value: Any) -> float:
    """Return a dropout rate as a `float`; NumPy numbers are accepted.

    Raises:
        ValueError: If `value` is not a number of at least 0 and below 1.
    """
    if not _is_number(value) or not 0 <= value < 1:
        raise ValueError(
            f"`{name}` must be a number of at least 0 and below 1. Received: {name}={value!r}."
        )
    return float(value)


def check_fraction(name: str, value: Any) -> float:
    """Return `value` as a `float`; NumPy numbers are accepted.

    Raises:
        ValueError: If `value` is not a number above 0 and at most 1.
    """
    if not _is_number(value) or not 0 < value <= 1:
        raise ValueError(
            f"`{name}` must be a number above 0 and at most 1. Received: {name}={value!r}."
        )
    return float(value)


def check_positive_number(name: str, value: Any) -> float:
    """Return `value` as a `float`; NumPy numbers are accepted.

    Raises:
        ValueError: If `value` is not a finite number above 0.
    """
    if not _is_number(value) or not 0 < value < math.inf:
        raise ValueError(f"`{name}` must be a number above 0. Received: {name}={value!r}.")
    return float(value)


def check_boolean(name: str, value: Any) -> bool:
    """Return `value` as a `bool`; NumPy booleans are accepted.

    Raises:
        ValueError: If `value` is neither True nor False.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"`{name}` must be True or False. Received: {name}={value!r}.")
    return bool(value)


def optional(check: Callable[[str, Any], Any], name: str, value: Any) -> Any:
    """Return the checked value, or None if `value` is None."""
    return None if value is None else check(name, value)


def check_seed(name: str, value: Any) -> int | None:
    """Return a seed as an `int`, or None.

    Raises:
        ValueError: If `value` is neither None nor an integer of at least 0.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise ValueError(
            f"`{name}` must be None or an integer of at least 0. Received: {name}={value!r}."
        )
    return int(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def check_multiple(name: str, value: int, other: str, divisor: int) -> None:
    """Check that a positive integer is a multiple of another argument.

    Raises:
        ValueError: If it is not. The message names the next larger multiple.
    """
    if value % divisor:
        raise ValueError(
            f"`{name}` must be a multiple of `{other}`. Received: {name}={value}, "
            f"{other}={divisor}. Use {name}={value + divisor - value % divisor}."
        )


def check_choice(name: str, value: Any, choices: tuple) -> None:
    """Check that `value` is one of `choices`.

    Raises:
        ValueError: If `value` is something else.
    """
    if value not in choices:
        expected = ", ".join(map(repr, choices))
        raise ValueError(f"`{name}` must be one of {expected}. Received: {name}={value!r}.")


def get_activation(name: str, value: Any) -> Any:
    """Return the activation function of a name or function, as `keras.activations.get`.

    Raises:
        ValueError: If Keras knows no such activation.
    """
    try:
        found = keras.activations.get(value)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"`{name}` must be a function, or a name that keras.activations.get knows. "
            f"Received: {name}={value!r}."
        ) from error
    return found


def check_separate(layer: Any, query: Any) -> None:
    """Check that queries and keys are arguments of their own: some layers of Keras take a list.

    Raises:
        ValueError: If `query` is a list of tensors.
    """
    if isinstance(query, list | tuple) and any(hasattr(x, "shape") for x in query):
        raise ValueError(
            f"{type(layer).__name__} is called as `layer(query, key, value=None)`, not with a list "
            "as keras.layers.Attention, which takes [query, value, key]. "
            f"Received: query=a {type(query).__name__} of {len(query)}."
        )


def check_start(start: Any) -> None:
    """Check that a first position is an integer of at least 0, or a scalar tensor of an integer.

    The value of a tensor is not checked.

    Raises:
        ValueError: If `start` is something else.
    """
    if hasattr(start, "shape") and not isinstance(start, numbers.Number):
        dtype = _dtype_of(start)
        if len(start.shape) or ("int" not in dtype and not is_tracing_shapes()):
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


def check_places(positions: Any) -> None:
    """Check that positions of an added encoding are integers of at least 0, where they are known.

    Raises:
        ValueError: If they are not.
    """
    if positions is None:
        return
    check_integers("positions", positions)
    values = None if is_tracing_shapes() else known_values(positions)
    if values is not None and values.size and values.min() < 0:
        raise ValueError(
            f"`positions` must be at least 0. Received: positions from {values.min()}."
        )


def check_layout(name: str, x: Any, layout: str) -> None:
    """Check that a tensor, or a shape, has one axis for each letter of `layout`.

    Raises:
        ValueError: If the rank differs.
    """
    shape = tuple(getattr(x, "shape", x))
    if len(shape) != len(layout):
        raise ValueError(
            f"`{name}` must have shape ({', '.join(layout)}). Received: {name}.shape={shape}."
        )


def check_features(name: str, shape: Any, size: int) -> None:
    """Check the last axis of an input against the size that a layer was built with.

    Raises:
        ValueError: If the size is known and differs.
    """
    if isinstance(shape[-1], int) and shape[-1] != size:
        raise ValueError(
            f"`{name}` must have {size} features, the size that this layer was built with. "
            f"Received: {name}.shape={tuple(shape)}."
        )


def check_integers(name: str, x: Any) -> None:
    """Check that `x` holds integers: floats may have been rounded before.

    When Keras loads a subclassed model, it builds the model with float placeholders. Any dtype
    passes while Keras computes shapes only.

    Raises:
        ValueError: If the dtype is not an integer.
    """
    dtype = _dtype_of(x)
    if "int" not in dtype and not is_tracing_shapes():
        raise ValueError(
            f"`{name}` must be integers. Received: {name}.dtype={dtype}. "
            'Cast them, or declare the input with dtype="int32".'
        )


def check_floats(name: str, x: Any) -> None:
    """Check that `x` holds floats.

    Raises:
        ValueError: If the dtype is none.
    """
    dtype = _dtype_of(x)
    if "float" not in dtype and not is_tracing_shapes():
        raise ValueError(
            f"`{name}` must be floats, which are added to the scores. "
            f"Received: {name}.dtype={dtype}. A mask is given as `attention_mask`."
        )


def check_ids(name: str, ids: Any, vocab_size: int) -> None:
    """Check that token ids are integers in `[0, V)`, as far as their values are known.

    Raises:
        ValueError: If the dtype or a known value is wrong.
    """
    check_integers(name, ids)
    values = None if is_tracing_shapes() else known_values(ids)
    if values is not None and values.size and not 0 <= values.min() <= values.max() < vocab_size:
        raise ValueError(
            f"`{name}` must be at least 0 and below vocab_size={vocab_size}. "
            f"Received: {name} from {values.min()} to {values.max()}."
        )


def check_padding_id(value: Any, vocab_size: int) -> int | None:
    """Return the id of padding as an `int`, or None.

    Raises:
        ValueError: If it is neither None nor an id.
    """
    if value is None:
        return None
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_integer or not 0 <= value < vocab_size:
        raise ValueError(
            f"`padding_id` must be None or an integer of at least 0 and below vocab_size="
            f"{vocab_size}. Received: padding_id={value!r}."
        )
    return int(value)


def check_lengths(name: str, lengths: Any, num_keys: Any) -> None:
    """Check that lengths are integers in `[0, S]`, as far as their values are known.

    Args:
        name: Name of the argument.
        lengths: Valid lengths.
        num_keys: `S`; anything but an integer if `S` is known at run time only.

    Raises:
        ValueError: If the dtype or a known value is wrong.
    """
    check_integers(name, lengths)
    values = known_values(lengths)
    if is_tracing_shapes() or values is None or not values.size:
        return
    ends = int(values.min()), int(values.max())
    limit = num_keys if isinstance(num_keys, int) else ends[1]
    if ends[0] < 0 or ends[1] > limit:
        raise ValueError(
            f"`{name}` must be at least 0 and at most S={num_keys}, the number of keys. "
            f"Received: {name}={values.tolist() if values.size < 20 else ends}."
        )


def check_mask(name: str, mask: Any) -> None:
    """Check that a mask does not hold floats, which other libraries add to the scores.

    Raises:
        ValueError: If the dtype is a float.
    """
    dtype = _dtype_of(mask)
    if dtype != "bool" and "int" not in dtype and not is_tracing_shapes():
        raise ValueError(
            f"`{name}` must be boolean, True = may attend. Received: {name}.dtype={dtype}. "
            'Compare it (`mask > 0`), or declare the input with dtype="bool".'
        )


def check_symbolic_dtypes(arguments: Mapping[str, Any]) -> None:
    """Check the dtypes of Keras inputs in a functional model, by the names of call arguments.

    The layer cannot tell such an input from a placeholder of Keras, for which `check_integers`
    accepts any dtype.

    Raises:
        ValueError: If ids or lengths are no integers, or a mask is a float.
    """
    for name, x in arguments.items():
        if not isinstance(x, keras.KerasTensor):
            continue
        dtype = _dtype_of(x)
        if (name == "ids" or name.endswith("valid_lens")) and "int" not in dtype:
            raise ValueError(
                f"`{name}` must be integers. Received: {name}.dtype={dtype}. "
                'Declare the input with dtype="int32".'
            )
        if name.endswith("mask") and dtype != "bool" and "int" not in dtype:
            raise ValueError(
                f"`{name}` must be boolean, True = may attend. Received: {name}.dtype={dtype}. "
                'Declare the input with dtype="bool".'
            )


def _dtype_of(x: Any) -> str:
    return keras.backend.standardize_dtype(x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype)


def known_values(x: Any) -> np.ndarray | None:
    """Return the values of an array or eager tensor; None if they are not known yet."""
    try:
        return np.asarray(ops.convert_to_numpy(x) if hasattr(x, "dtype") else x)
    except (TypeError, ValueError, RuntimeError):  # differs by backend
        return None


def is_tracing_shapes() -> bool:
    """Whether Keras computes shapes only, with placeholders of any length and dtype."""
    with keras.SymbolicScope() as scope:
        return scope.original_scope is not None
