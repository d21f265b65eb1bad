"""Checks of arguments, with the same wording in every layer. A check that fails is a ValueError."""

import math
import numbers
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
from keras import ops


def check(name: str, value: Any, is_right: bool, expected: str) -> None:
    """Check a condition on an argument.

    Args:
        name: Name of the argument.
        value: What was received.
        is_right: Whether it is right.
        expected: What it must be.
    """
    if not is_right:
        raise ValueError(f"`{name}` must be {expected}. Received: {name}={value!r}.")


def check_positive_integer(name: str, value: Any) -> int:
    """Return an integer of at least 1, also of NumPy, as an `int`; booleans are none."""
    check(name, value, _is_integer(value) and value >= 1, "a positive integer")
    return int(value)


def check_rate(name: str, value: Any) -> float:
    """Return a rate, such as of dropout, at least 0 and below 1, as a `float`."""
    is_rate = _is_number(value) and 0 <= value < 1
    check(name, value, is_rate, "a number of at least 0 and below 1")
    return float(value)


def check_fraction(name: str, value: Any) -> float:
    """Return a number above 0 and at most 1 as a `float`."""
    is_fraction = _is_number(value) and 0 < value <= 1
    check(name, value, is_fraction, "a number above 0 and at most 1")
    return float(value)


def check_positive_number(name: str, value: Any) -> float:
    """Return a finite number above 0 as a `float`."""
    check(name, value, _is_number(value) and 0 < value < math.inf, "a number above 0")
    return float(value)


def check_boolean(name: str, value: Any) -> bool:
    """Return True or False, also of NumPy, as a `bool`."""
    check(name, value, isinstance(value, bool | np.bool_), "True or False")
    return bool(value)


def optional(check: Callable[[str, Any], Any], name: str, value: Any) -> Any:
    """Return the checked value, or None if `value` is None."""
    return None if value is None else check(name, value)


def check_seed(name: str, value: Any) -> int | None:
    """Return a seed as an `int`, or None."""
    is_seed = value is None or (_is_integer(value) and value >= 0)
    check(name, value, is_seed, "None or an integer of at least 0")
    return None if value is None else int(value)


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def _is_integer(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_multiple(name: str, value: int, other: str, divisor: int) -> None:
    """Check that a positive integer is a multiple of another argument."""
    if value % divisor:
        raise ValueError(
            f"`{name}` must be a multiple of `{other}`. Received: {name}={value}, "
            f"{other}={divisor}. Use {name}={value + divisor - value % divisor}."
        )


def check_choice(name: str, value: Any, choices: tuple) -> Any:
    """Return a value that is one of several."""
    check(name, value, value in choices, f"one of {', '.join(map(repr, choices))}")
    return value


def get_activation(name: str, value: Any) -> Any:
    """Return the activation function of a name or function, as `keras.activations.get`."""
    try:
        found = keras.activations.get(value)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"`{name}` must be a function, or a name that keras.activations.get knows, such as "
            f'"relu", "gelu" or "silu". Received: {name}={value!r}.'
        ) from error
    return found


def check_first_input(owner: str, x: Any) -> None:
    """Check that the first input of a layer is a tensor: not text, nor a list of inputs."""
    if isinstance(x, list | tuple) and any(hasattr(part, "shape") for part in x):
        raise ValueError(
            f"{owner} takes its inputs one by one, not as a list: `layer(query, key, value=None)` "
            "where keras.layers.Attention takes [query, value, key]. "
            f"Received: a {type(x).__name__} of {len(x)} inputs."
        )
    if isinstance(x, str | bytes | list | tuple):
        raise ValueError(
            f"{owner} takes tensors: convert numbers by keras.ops.array, and text to token ids, "
            f"which TokenEmbedding takes. Received: {type(x).__name__} {x!r:.60}."
        )
    if type(x).__name__ == "RaggedTensor":
        raise ValueError(
            f"{owner} takes tensors with one length: pass `x.to_tensor()` and "
            f"valid_lens=`x.row_lengths()`. Received: a RaggedTensor of shape {x.shape}."
        )


def check_start(start: Any) -> None:
    """Check that a first position is an integer of at least 0, or a scalar tensor of an integer.

    The value of a tensor is not checked.
    """
    if hasattr(start, "shape") and not isinstance(start, numbers.Number):
        _check_dtype("start", start, ("int",), "an integer or a scalar tensor of one", "")
        is_right = not len(start.shape)
        start = f"a tensor of shape {tuple(start.shape)}"
    else:
        is_right = _is_integer(start) and start >= 0
    check("start", start, is_right, "an integer of at least 0, or a scalar tensor of one")


def check_places(positions: Any) -> None:
    """Check that positions of an added encoding are integers, and at least 0 if known."""
    if positions is None:
        return
    check_integers("positions", positions)
    values = None if is_tracing_shapes() else known_values(positions)
    if values is not None and values.size and values.min() < 0:
        raise ValueError(
            f"`positions` must be at least 0. Received: positions from {values.min()}."
        )


def check_layout(name: str, x: Any, layout: str) -> None:
    """Check that a tensor, or a shape, has one axis for each letter of `layout`."""
    shape = tuple(getattr(x, "shape", x))
    if len(shape) != len(layout):
        raise ValueError(
            f"`{name}` must have shape ({', '.join(layout)}). Received: {name}.shape={shape}."
            f"{axes_hint(shape, layout)}"
        )


def axes_hint(shape: tuple, layout: str) -> str:
    """Return what to do with vectors that lack an axis or have one more, as a further sentence."""
    if layout.endswith("D") and len(shape) == 2:
        return " Token ids are embedded first (TokenEmbedding); one sequence is `x[None]`."
    if layout.endswith("D") and len(shape) > 3:
        return " Reshape it, or wrap the layer in keras.layers.TimeDistributed."
    return ""


def check_features(name: str, shape: Any, size: int) -> None:
    """Check the last axis of an input against the size that a layer was built with."""
    if isinstance(shape[-1], int) and shape[-1] != size:
        raise ValueError(
            f"`{name}` must have {size} features, the size that this layer was built with. "
            f"Received: {name}.shape={tuple(shape)}."
        )


def check_integers(name: str, x: Any, placeholders: bool = True) -> None:
    """Check that `x` holds integers: floats may have been rounded before.

    When Keras loads a subclassed model, it builds the model with float placeholders. So any dtype
    passes while Keras computes shapes only, unless `placeholders` is False.
    """
    hint = 'Cast them, or declare the input with dtype="int32".'
    if name.endswith("valid_lens") and "bool" in str(getattr(x, "dtype", "")):
        hint = "A mask is given by name: `attention_mask`, `key_mask`, `x_mask` or `memory_mask`."
    _check_dtype(name, x, ("int",), "integers", hint, placeholders)


def check_floats(name: str, x: Any) -> None:
    """Check that `x` holds floats."""
    hint = "A mask is given as `attention_mask`."
    _check_dtype(name, x, ("float",), "floats, which are added to the scores", hint)


def check_mask(name: str, x: Any, placeholders: bool = True) -> None:
    """Check that a mask does not hold floats, which other libraries add to the scores."""
    hint = (
        "A mask of 1 = attend and 0 = hide is `mask > 0`. A mask of 0 = attend and -1e9 = hide is "
        '`mask > -1`, and can be given as `attention_bias`. A Keras input has dtype="bool".'
    )
    _check_dtype(name, x, ("bool", "int"), "boolean, True = attend", hint, placeholders)


def _check_dtype(name, x, words, expected, hint, placeholders=True):
    found = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
    dtype = keras.backend.standardize_dtype(found)
    passes = any(word in dtype for word in words) or (placeholders and is_tracing_shapes())
    if not passes:
        raise ValueError(f"`{name}` must be {expected}. Received: {name}.dtype={dtype}. {hint}")


def check_symbolic_dtypes(arguments: Mapping[str, Any]) -> None:
    """Check the dtypes of Keras inputs in a functional model, by the names of call arguments.

    The layer cannot tell such an input from a placeholder of Keras.
    """
    for name, x in arguments.items():
        if not isinstance(x, keras.KerasTensor):
            continue
        if name == "ids" or name.endswith("valid_lens"):
            check_integers(name, x, placeholders=False)
        elif name.endswith("mask"):
            check_mask(name, x, placeholders=False)


def check_ids(name: str, ids: Any, vocab_size: int) -> None:
    """Check that token ids are integers in `[0, V)`, as far as their values are known."""
    check_integers(name, ids)
    values = None if is_tracing_shapes() else known_values(ids)
    if values is not None and values.size and not 0 <= values.min() <= values.max() < vocab_size:
        raise ValueError(
            f"`{name}` must be at least 0 and below vocab_size={vocab_size}. "
            f"Received: {name} from {values.min()} to {values.max()}."
        )


def check_padding_id(value: Any, vocab_size: int) -> int | None:
    """Return the id of padding as an `int`, or None."""
    is_id = value is None or (_is_integer(value) and 0 <= value < vocab_size)
    expected = f"None or an integer of at least 0 and below vocab_size={vocab_size}"
    check("padding_id", value, is_id, expected)
    return None if value is None else int(value)


def check_lengths(name: str, lengths: Any, num_keys: Any) -> None:
    """Check that lengths are integers in `[0, S]`, as far as their values are known.

    Args:
        name: Name of the argument.
        lengths: Valid lengths.
        num_keys: `S`; anything but an integer if `S` is known at run time only.
    """
    check_integers(name, lengths)
    values = known_values(lengths)
    if is_tracing_shapes() or values is None or not values.size:
        return
    ends = int(values.min()), int(values.max())
    limit = num_keys if isinstance(num_keys, int) else ends[1]
    if values.ndim == 2 and values.shape[1] == limit > 1 >= ends[1] and ends[0] == 0:
        warnings.warn(
            f"`{name}` (B, T) of only 0 and 1 is read as numbers of keys. If it is a mask of "
            f"padding, pass it as `key_mask`, `x_mask` or `memory_mask`. Received: {name} of shape "
            f"{values.shape}.",
            stacklevel=4,
        )
    if ends[0] < 0 or ends[1] > limit:
        raise ValueError(
            f"`{name}` must be at least 0 and at most S={num_keys}, the number of keys. "
            f"Received: {name}={values.tolist() if values.size < 20 else ends}."
        )


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
