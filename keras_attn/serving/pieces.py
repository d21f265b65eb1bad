"""Pieces of a request: rows that are computed in one batch, and the outputs of all pieces."""

import math
from collections.abc import Iterator
from http import HTTPStatus
from typing import NamedTuple

import numpy as np

from keras_attn.serving.errors import RequestError
from keras_attn.serving.servable import Signature
from keras_attn.serving.settings import Settings

Tensors = dict[str, np.ndarray]


class Piece(NamedTuple):
    """Inputs of some rows of a request, and their number of characters; a row has at least one."""

    inputs: Tensors
    num_rows: int
    size: int


def cut(signature: Signature, inputs: Tensors, num_rows: int, limits: Settings) -> Iterator[Piece]:
    """Pieces of a request.

    A piece has at most `batch_rows` rows and `batch_characters` characters, or one row. A request
    whose rows depend on each other, such as samples with a seed, is one piece.
    """
    if not signature.has_rows and num_rows > limits.batch_rows:
        raise RequestError(
            f"A request for this signature must have at most {limits.batch_rows} texts. Received: "
            f"{num_rows}.",
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        )
    of_rows = {name: array for name, array in inputs.items() if name not in signature.shared}
    sizes = _sizes(of_rows, num_rows)
    start = size = 0
    if signature.has_rows and all(len(array) == num_rows for array in of_rows.values()):
        for row, more in enumerate(sizes):
            is_full = row - start == limits.batch_rows or size + more > limits.batch_characters
            if row > start and is_full:
                some = {name: array[start:row] for name, array in of_rows.items()}
                yield Piece({**inputs, **some}, row - start, size)
                start, size = row, 0
            size += more
    if start:
        inputs = {**inputs, **{name: array[start:] for name, array in of_rows.items()}}
    yield Piece(inputs, num_rows - start, sum(sizes[start:]))


def _sizes(of_rows: Tensors, num_rows: int) -> list[int]:
    sizes = [0] * num_rows
    for array in of_rows.values():
        if array.dtype == object and array.size and array.ndim:
            num_texts = array.size // len(array)  # of a row
            for place, text in enumerate(array.flat):
                sizes[place // num_texts] += len(text.decode("utf-8", "replace"))
    return [max(1, size) for size in sizes]


def check_cells(found: list[Tensors], num_rows: int, limits: Settings) -> None:
    """Check how many values the outputs of a request of several rows would have.

    `found` are the outputs of the pieces that are computed, at least one.
    """
    if num_rows == 1:
        return
    shapes = (_row_shape([part[name] for part in found]) for name in found[0])
    cells = num_rows * sum(map(math.prod, shapes))
    if cells > limits.max_cells:
        raise RequestError(
            f"The outputs of a request of several texts must have at most {limits.max_cells} "
            f"values. These would have {cells}. Send fewer or shorter texts.",
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        )


def num_bytes(outputs: Tensors) -> int:
    """Size of outputs."""
    return sum(
        sum(map(len, array.flat)) if array.dtype == object else array.nbytes
        for array in outputs.values()
    )


def joined(found: list[Tensors]) -> Tensors:
    """Outputs of a request: rows of all pieces, padded with zeros and empty strings.

    Example:

    >>> joined([{"y": np.array([[1]])}, {"y": np.array([[2, 3]])}])["y"].tolist()
    [[1, 0], [2, 3]]
    """
    if len(found) == 1:
        return found[0]
    outputs = {}
    for name, first in found[0].items():
        arrays = [part[name] for part in found]
        padding = b"" if first.dtype == object else 0
        shape = (sum(map(len, arrays)), *_row_shape(arrays))
        outputs[name] = np.full(shape, padding, first.dtype)
        start = 0
        for array in arrays:
            end = start + len(array)
            outputs[name][(slice(start, end), *map(slice, array.shape[1:]))] = array
            start = end
    return outputs


def _row_shape(arrays: list[np.ndarray]) -> tuple[int, ...]:
    """Shape of the rows of arrays: the largest size of each axis."""
    return tuple(map(max, zip(*(array.shape[1:] for array in arrays), strict=True)))
