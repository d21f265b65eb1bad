"""Request and response bodies of `predict` in the REST API of TensorFlow Serving.

Formats and error messages follow the documentation of TensorFlow Serving (`api_rest.md`, "Predict
API") and the answers of the original server.
"""

import codecs
import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.serving.errors import RequestError
from keras_attn.serving.tensors import is_binary, shown, to_array, to_json

DEFAULT_SIGNATURE = "serving_default"
Form = Literal["row", "column"]


class PredictRequest(NamedTuple):
    """Inputs of a request, and the format of the answer: rows or columns."""

    inputs: dict[str, np.ndarray]
    form: Form


def read(body: bytes) -> dict[str, Any]:
    """Parse the body of a request.

    Raises:
        RequestError: If the body is not a JSON object.
    """
    body = body.removeprefix(codecs.BOM_UTF8)  # some editors and clients write one
    if not body.strip():
        raise RequestError("JSON Parse error: The document is empty")
    try:
        document = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RequestError(
            f"JSON Parse error: Invalid encoding in string. at offset: {error.start}"
        ) from error
    except json.JSONDecodeError as error:
        raise RequestError(
            f"JSON Parse error: Invalid value. {error.msg} at offset: {error.pos}"
        ) from error
    except (RecursionError, ValueError) as error:  # deep nesting, or an integer of > 4300 digits
        raise RequestError("JSON Parse error: Nested too deeply, or a number too long.") from error
    if not isinstance(document, dict):
        raise RequestError(f"JSON Value: {shown(document)} Is not object")
    return document


def signature_name(document: Mapping[str, Any]) -> str:
    """Name of the signature that a request uses.

    Raises:
        RequestError: If `signature_name` is not a string.
    """
    name = document.get("signature_name", "")
    if not isinstance(name, str):
        raise RequestError(
            f"JSON Value: {shown(document)} not formatted correctly. 'signature_name' key must be "
            "a string value."
        )
    return name or DEFAULT_SIGNATURE


def parse_request(
    document: Mapping[str, Any], specs: Mapping[str, tf.TensorSpec]
) -> PredictRequest:
    """Inputs of a request in row format (`instances`) or column format (`inputs`).

    Args:
        document: Parsed body of the request.
        specs: Input specs of the signature, by name.

    Raises:
        RequestError: If the inputs do not match the specs.
    """
    if "instances" in document and "inputs" in document:
        raise RequestError(
            f"JSON Value: {shown(document)} Not formatted correctly expecting only one of 'inputs' "
            "or 'instances' keys to exist "
        )
    if "instances" in document:
        parsed = PredictRequest(_from_rows(document, document["instances"], specs), "row")
    elif "inputs" in document:
        parsed = PredictRequest(_from_columns(document["inputs"], specs), "column")
    else:
        raise RequestError("Missing 'inputs' or 'instances' key")
    for name, spec in specs.items():
        shape = parsed.inputs[name].shape
        if not spec.shape.is_compatible_with(shape):
            raise RequestError(
                f"Tensor {name} has shape {list(shape)}, expected {spec.shape.as_list()}"
            )
    return parsed


def _from_rows(
    document: Mapping[str, Any], instances: Any, specs: Mapping[str, tf.TensorSpec]
) -> dict[str, np.ndarray]:
    if not isinstance(instances, list):
        raise RequestError(
            f"JSON Value: {shown(document)} Excepting 'instances' to be an list/array"
        )
    if not instances:
        raise RequestError(f"JSON Value: {shown(document)} No values in 'instances' array")
    if not isinstance(instances[0], dict) and len(specs) > 1:
        raise RequestError(
            "instances is a plain list, but expecting list of objects as multiple input tensors "
            "required as per tensorinfo_map"
        )
    are_objects = _is_object(instances[0])
    rows: dict[str, list[np.ndarray]] = {name: [] for name in specs}
    for number, instance in enumerate(instances):
        if _is_object(instance) != are_objects:
            expected, got = ("object", "list") if are_objects else ("value/list", "object")
            raise RequestError(f"Expecting {expected} but got {got} at item {number} of input list")
        values = instance if are_objects else {next(iter(specs)): instance}
        for name, value in values.items():
            key = f" key: {name}" if are_objects else ""
            try:
                _add_row(rows, name, value, specs)
            except RequestError as error:
                raise RequestError(
                    f"Failed to process element: {number}{key} of 'instances' list. Error: "
                    f"INVALID_ARGUMENT: {error.message}"
                ) from error
        if values.keys() != specs.keys():
            raise RequestError(
                f"Failed to process element: {number} of 'instances' list. JSON object: "
                f"{shown(instance)} keys must be equal to: {','.join(sorted(specs))}"
            )
    return {name: np.stack(arrays) for name, arrays in rows.items()}


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and not is_binary(value)


def _add_row(
    rows: dict[str, list[np.ndarray]],
    name: str,
    value: Any,
    specs: Mapping[str, tf.TensorSpec],
) -> None:
    if name not in specs:
        raise RequestError(f"JSON object: does not have named input: {name}")
    array = to_array(value, specs[name].dtype)
    for first in rows[name][:1]:
        if array.size != first.size:
            raise RequestError(f"Expecting tensor size: {first.size} but got: {array.size}")
        if array.shape != first.shape:
            raise RequestError(
                f"Expecting shape {_listed(first.shape)} but got: {_listed(array.shape)}"
            )
    rows[name].append(array)


def _listed(shape: tuple[int, ...]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _from_columns(inputs: Any, specs: Mapping[str, tf.TensorSpec]) -> dict[str, np.ndarray]:
    if not _is_object(inputs):
        if len(specs) > 1:
            raise RequestError(
                "inputs is a plain value/list, but expecting an object as multiple input tensors "
                "required as per tensorinfo_map"
            )
        inputs = {next(iter(specs)): inputs}
    for name in specs:
        if name not in inputs:
            raise RequestError(f"Missing named input: {name} in 'inputs' object.")
    return {name: to_array(inputs[name], spec.dtype) for name, spec in specs.items()}


def to_response(outputs: Mapping[str, np.ndarray], form: Form) -> bytes:
    """Serialize the body of a response.

    Args:
        outputs: Outputs of the signature, by name.
        form: Format of the request, `"row"` or `"column"`.

    Raises:
        RequestError: If the format is `"row"`, and an output is a scalar or the outputs differ in
            their number of rows.
    """
    if form == "row":
        document: dict[str, Any] = {"predictions": _rows(outputs)}
    else:
        columns = {name: to_json(array, name) for name, array in outputs.items()}
        document = {"outputs": columns if len(columns) > 1 else next(iter(columns.values()))}
    return as_json(document)


def as_json(document: Mapping[str, Any]) -> bytes:
    """JSON. `NaN` and `Infinity` are written as by TensorFlow Serving; Python's json reads them."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _rows(outputs: Mapping[str, np.ndarray]) -> list[Any]:
    num_rows = None
    for name, array in outputs.items():
        if not array.ndim:
            raise RequestError(f"Tensor name: {name} has no shape information ")
        if num_rows not in (None, len(array)):
            raise RequestError(
                f"Tensor name: {name} has inconsistent batch size: {len(array)} "
                f"expecting: {num_rows}"
            )
        num_rows = len(array)
    columns = [to_json(array, name) for name, array in outputs.items()]
    if len(columns) == 1:
        return columns[0]
    return [dict(zip(outputs, row, strict=True)) for row in zip(*columns, strict=True)]
