"""Reader of tensors in the format safetensors."""

import json
import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": ml_dtypes.bfloat16}


def read(path: Path) -> dict[str, np.ndarray]:
    """Floating-point tensors of a file by name, in float32.

    Its first 8 bytes are the length of a JSON header with dtype, shape and place of each tensor.
    """
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    if len(content) < max(start, 8):
        raise ValueError(f"`{path}` is cut off: its header has more bytes than the file.")
    try:
        header: dict[str, Any] = json.loads(content[8:start])
        header.pop("__metadata__", None)
        data = memoryview(content)[start:]
        return {
            name: _tensor(path, name, data, entry)
            for name, entry in header.items()
            if entry["dtype"] in _DTYPES
        }
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"`{path}` is not a safetensors file.") from error


def _tensor(path: Path, name: str, data: memoryview, entry: dict[str, Any]) -> np.ndarray:
    begin, end = entry["data_offsets"]
    dtype, count = np.dtype(_DTYPES[entry["dtype"]]), math.prod(entry["shape"])
    if end > len(data) or end - begin != dtype.itemsize * count:
        raise ValueError(f"`{path}` is cut off: it ends inside the tensor {name!r}.")
    return np.frombuffer(data, dtype, count, begin).astype(np.float32).reshape(entry["shape"])
