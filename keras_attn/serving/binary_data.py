"""Binary data of tensors in the Open Inference Protocol, as Triton's clients send it by default.

https://github.com/triton-inference-server/server, `docs/protocol/extension_binary_data.md`. The
data follow the JSON of a request or response; a header tells the size of the JSON. Numbers are
little-endian, and each string follows its size in 4 bytes.
"""

import re
import struct

import numpy as np
import tensorflow as tf

from keras_attn.serving.errors import RequestError

HEADER = "Inference-Header-Content-Length"
EXTENSION = "binary_tensor_data"
_SIZE = struct.Struct("<I")


def split(content: bytes, json_size: str | None) -> tuple[bytes, bytes]:
    """JSON and binary data of a body.

    Args:
        content: Body of the request.
        json_size: Value of the header, or None for a body of JSON alone.

    Raises:
        RequestError: If the header is not the size of a part of the body.
    """
    if json_size is None:
        return content, b""
    if not re.fullmatch("[0-9]{1,18}", json_size) or int(json_size) > len(content):
        raise RequestError(
            f"The header {HEADER} must be the size of the JSON in the body of {len(content)} bytes."
            f" Received: {json_size[:20]}."
        )
    return content[: int(json_size)], content[int(json_size) :]


def to_array(data: bytes, dtype: tf.DType) -> np.ndarray:
    """Values in binary data, `(N,)`.

    Raises:
        RequestError: If the data end within a value.

    Example:

    >>> to_array(b"\\x03\\0\\0\\0dog", tf.string)
    array([b'dog'], dtype=object)
    """
    if dtype != tf.string:
        numbers = np.dtype(dtype.as_numpy_dtype).newbyteorder("<")
        if len(data) % numbers.itemsize:
            raise RequestError(f"Binary data of {dtype.name} end within a value.")
        return np.frombuffer(data, numbers).astype(dtype.as_numpy_dtype)
    strings, at = [], 0
    while at < len(data):
        start = at + _SIZE.size
        at = start + (_SIZE.unpack_from(data, at)[0] if start <= len(data) else 1)
        if at > len(data):
            raise RequestError("Binary data of strings end within a string.")
        strings.append(data[start:at])
    array = np.empty(len(strings), object)
    array[:] = strings
    return array


def to_bytes(array: np.ndarray) -> bytes:
    """Binary data of an output.

    Example:

    >>> to_bytes(np.array([b"dog"], object))
    b'\\x03\\x00\\x00\\x00dog'
    """
    if array.dtype == object:
        return b"".join(_SIZE.pack(len(text)) + text for text in array.ravel())
    return array.astype(array.dtype.newbyteorder("<")).tobytes()
