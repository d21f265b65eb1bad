"""Conversion between JSON values and tensors in the REST API of TensorFlow Serving.

Rules and error messages follow the documentation of TensorFlow Serving (`api_rest.md`, "JSON
mapping") and the answers of the original server.
"""

import base64
import binascii
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from keras_attn.serving.errors import RequestError

BINARY_SUFFIX = "_bytes"  # outputs with this suffix hold bytes, not text
_WHOLE_NUMBERS = (
    tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64,
)  # fmt: skip
_FRACTIONS = (tf.float32, tf.float64)
_AT_ONCE = 2000  # numbers, which take 2 ms
_SHOWN = 200  # maximum number of characters of an invalid value in an error message
MAX_RANK = 32


def to_array(value: Any, dtype: tf.DType) -> np.ndarray:
    """Convert a JSON value, scalar or nested lists, to an array."""
    shape = _shape(value)
    if len(shape) > MAX_RANK:
        raise RequestError(f"Encountered lists nested deeper than {MAX_RANK} levels")
    flat: list[Any] = []
    _flatten(value, shape, 0, dtype, flat)
    return np.array(flat, dtype.as_numpy_dtype).reshape(shape)


def _shape(value: Any) -> tuple[int, ...]:
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return tuple(shape)


def _flatten(
    value: Any, shape: tuple[int, ...], level: int, dtype: tf.DType, flat: list[Any]
) -> None:
    if not isinstance(value, list):
        if level != len(shape):
            raise RequestError(
                f"JSON Value: {shown(value)} found at incorrect level: {level + 1} in the JSON "
                f"DOM. Expected at level: {len(shape)}"
            )
        flat.append(_scalar(value, dtype))
        return
    if level >= len(shape):
        raise RequestError(f"Encountered list at unexpected level: {level} expected < {len(shape)}")
    if len(value) != shape[level]:
        raise RequestError(
            f"Encountered list at unexpected size: {len(value)} at level: {level} "
            f"expected size: {shape[level]}"
        )
    for one in value:
        _flatten(one, shape, level + 1, dtype, flat)


def _scalar(value: Any, dtype: tf.DType) -> Any:
    if dtype == tf.string:
        return _bytes(value)
    if dtype == tf.bool and isinstance(value, bool):
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if dtype in _FRACTIONS and is_number:
        return _fraction(value, dtype)
    if dtype in _WHOLE_NUMBERS and is_number and isinstance(value, int):
        if dtype.min <= value <= dtype.max:
            return value
    raise _type_error(value, dtype)


def _fraction(value: float, dtype: tf.DType) -> float:
    digits = np.finfo(dtype.as_numpy_dtype).nmant + 1
    if isinstance(value, int):
        is_lossy = abs(value) >= 2**digits
    else:
        with np.errstate(over="ignore"):
            is_lossy = math.isfinite(value) and not np.isfinite(dtype.as_numpy_dtype(value))
    if is_lossy:
        name = "float" if dtype == tf.float32 else "double"
        raise RequestError(
            f"Cannot convert JSON value: {shown(value)} to {name} without loss of precision."
        )
    return value


def _bytes(value: Any) -> bytes:
    if isinstance(value, dict):
        if not is_binary(value):
            raise RequestError(
                f"JSON Value: {shown(value)} not formatted correctly for base64 data"
            )
        try:
            return base64.b64decode(value["b64"], validate=True)
        except (binascii.Error, ValueError) as error:
            raise RequestError("Unable to base64 decode") from error
    if not isinstance(value, str):
        raise _type_error(value, tf.string)
    return value.encode("utf-8")


def _type_error(value: Any, dtype: tf.DType) -> RequestError:
    return RequestError(
        f"JSON Value: {shown(value)} Type: {json_type(value)} is not of expected type: {dtype.name}"
    )


def is_binary(value: Any) -> bool:
    """Whether a JSON value encodes bytes: `{"b64": "..."}`."""
    return isinstance(value, dict) and list(value) == ["b64"] and isinstance(value["b64"], str)


def json_type(value: Any) -> str:
    """Name of the type of a JSON value in error messages of TensorFlow Serving."""
    if isinstance(value, bool):
        return str(value)
    if value is None:
        return "Null"
    names: dict[type, str] = {dict: "Object", list: "Array", str: "String"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "Number")


def shown(value: Any) -> str:
    """Beginning of a JSON value, for error messages."""
    text = json.dumps(_beginning(value))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _beginning(value: Any, is_inside: bool = False) -> Any:
    """First elements of a list or object, without the contents of nested values."""
    few = 4
    if isinstance(value, list):
        return "[...]" if is_inside else [_beginning(one, True) for one in value[:few]]
    if isinstance(value, dict):
        few_items = list(value.items())[:few]
        return "{...}" if is_inside else {name: _beginning(x, True) for name, x in few_items}
    return value[:_SHOWN] if isinstance(value, str) else value


def to_json(array: np.ndarray, name: str) -> Any:
    """Convert an output to a JSON value; numbers have the fewest digits that identify them.

    Strings are base64-encoded bytes if the name of the output ends in `_bytes`, else text.
    """
    if array.dtype == object:
        return _strings_to_json(array.tolist(), name.endswith(BINARY_SUFFIX))
    if array.dtype == np.float32:
        # The shortest decimal of a float32, converted to float64: 0.2, not 0.20000000298.
        array = array.astype(str).astype(np.float64)
    return array.tolist()


def _strings_to_json(value: Any, is_bytes: bool) -> Any:
    if isinstance(value, list):
        return [_strings_to_json(one, is_bytes) for one in value]
    if is_bytes:
        return {"b64": base64.b64encode(value).decode("ascii")}
    return value.decode("utf-8", "replace")


def to_document(array: np.ndarray, name: str) -> Any:
    """Convert an output to a value for `as_json`, which may be an array of float32."""
    return array if array.dtype == np.float32 else to_json(array, name)


def as_json(document: Any) -> bytes:
    """JSON of a document that may hold arrays of float32.

    `NaN` and `Infinity` are written as by TensorFlow Serving; Python's json reads them. Numbers are
    written few at once: a thread that calls this holds the interpreter for a short time only.

    Example:

    >>> as_json({"weights": np.array([[0.2, np.nan]], np.float32), "piece": "犬"}).decode()
    '{"weights":[[0.2,NaN]],"piece":"犬"}'
    """
    return "".join(_parts(document)).encode("utf-8")


def _parts(value: Any) -> Iterator[str]:
    if isinstance(value, np.ndarray | np.float32) and not value.ndim:
        yield _numbers(np.reshape(value, 1))
    elif isinstance(value, np.ndarray) and value.ndim == 1:
        yield "["
        for start in range(0, len(value), _AT_ONCE):
            yield "," * bool(start) + _numbers(value[start : start + _AT_ONCE])
        yield "]"
    elif isinstance(value, dict):
        yield "{"
        for number, (key, one) in enumerate(value.items()):
            yield "," * bool(number) + json.dumps(key, ensure_ascii=False) + ":"
            yield from _parts(one)
        yield "}"
    elif isinstance(value, np.ndarray) or isinstance(value, list) and _holds_arrays(value):
        yield "["
        for number, one in enumerate(value):
            yield "," * bool(number)
            yield from _parts(one)
        yield "]"
    else:
        yield json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _holds_arrays(values: list) -> bool:
    return any(isinstance(one, dict | np.ndarray | np.float32) for one in values)


def _numbers(array: np.ndarray) -> str:
    """Numbers `(N,)` with commas between, each with the fewest digits that identify it."""
    text = ",".join(array.astype(str).tolist())
    return text.replace("nan", "NaN").replace("inf", "Infinity")
