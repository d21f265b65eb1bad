"""The Open Inference Protocol, which KServe, Triton and Seldon speak (version 2, over HTTP).

https://github.com/kserve/open-inference-protocol, `specification/protocol/inference_rest.md`. Data
is JSON, or binary as Triton's clients send it (`binary_data`). The parameter `signature_name` of a
request chooses a signature of the SavedModel.
"""

import math
import re
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
import tensorflow as tf

from keras_attn import __version__
from keras_attn.serving import binary_data
from keras_attn.serving.errors import RequestError
from keras_attn.serving.paths import Target
from keras_attn.serving.protocol import DEFAULT_SIGNATURE
from keras_attn.serving.servable import Servable
from keras_attn.serving.tensors import shown, to_array, to_json
from keras_attn.serving.versions import Versions

_DATATYPES = {
    tf.bool: "BOOL", tf.uint8: "UINT8", tf.uint16: "UINT16", tf.uint32: "UINT32",
    tf.uint64: "UINT64", tf.int8: "INT8", tf.int16: "INT16", tf.int32: "INT32", tf.int64: "INT64",
    tf.float16: "FP16", tf.float32: "FP32", tf.float64: "FP64", tf.string: "BYTES",
}  # fmt: skip
_PATH = re.compile(
    r"/v2/models/(?P<name>[^/]+)(?:/versions/(?P<version>[0-9]{1,18}))?(?P<verb>/ready|/infer)?"
)

SERVER = {"name": "keras_attn", "version": __version__, "extensions": [binary_data.EXTENSION]}


def parse(method: str, path: str, models: Collection[str]) -> Target:
    """Parse the method and path of a request below `/v2/models/`.

    Args:
        method: HTTP method.
        path: Raw path, percent-encoded.
        models: Names of the served models.

    Returns:
        Target with the verb `"metadata"`, `"ready"` or `"infer"`.

    Raises:
        RequestError: If the path is not part of the protocol or names no served model.
    """
    match = _PATH.fullmatch(path)
    if match is None:
        raise RequestError(f"There is no path {path}.", HTTPStatus.NOT_FOUND)
    verb = (match["verb"] or "/metadata")[1:]
    if (verb == "infer") != (method == "POST"):
        raise RequestError(
            f"The path {path} does not support the method {method}.", HTTPStatus.METHOD_NOT_ALLOWED
        )
    if (name := unquote(match["name"])) not in models:
        raise RequestError(
            f'There is no model "{name}". This server has {", ".join(models)}.',
            HTTPStatus.NOT_FOUND,
        )
    return Target(verb, name, int(match["version"]) if match["version"] else None)


def index(models: Mapping[str, Versions]) -> list[dict[str, str]]:
    """Versions of all models, as Triton's clients list them (extension `model_repository`)."""
    return [
        {
            "name": name,
            "version": str(one.version),
            "state": "READY" if one.state == "AVAILABLE" else "UNAVAILABLE",
            "reason": one.error,
        }
        for name, versions in models.items()
        for one in versions.seen()
    ]


def metadata(model: str, servable: Servable) -> dict[str, Any]:
    """Metadata of a version: inputs and outputs of its default signature."""
    signature = servable.signature(DEFAULT_SIGNATURE)
    return {
        "name": model,
        "versions": [str(servable.version)],
        "platform": "tensorflow_savedmodel",
        "inputs": [_described(name, spec) for name, spec in signature.inputs.items()],
        "outputs": [_described(name, spec) for name, spec in signature.outputs.items()],
    }


def _described(name: str, spec: tf.TensorSpec) -> dict[str, Any]:
    shape = [-1 if size is None else size for size in spec.shape.as_list()]
    return {"name": name, "datatype": _DATATYPES[spec.dtype], "shape": shape}


def parse_request(
    document: Mapping[str, Any], servable: Servable, binary: bytes = b""
) -> tuple[str, dict[str, np.ndarray]]:
    """Name of the signature that a request uses, and its inputs.

    Args:
        document: Parsed body of the request.
        servable: Version of the model.
        binary: Binary data of the inputs, in their order. Defaults to none.

    Raises:
        RequestError: If the document is not a request, or its inputs are not those of the
            signature.
    """
    parameters = _member(document, "parameters", dict, {})
    name = _member(parameters, "signature_name", str, DEFAULT_SIGNATURE)
    specs = servable.signature(name).inputs
    found: dict[str, np.ndarray] = {}
    for given in _member(document, "inputs", list):
        if not isinstance(given, dict):
            raise RequestError(f"An input must be an object. Received: {shown(given)}.")
        key = _member(given, "name", str)
        if key not in specs:
            raise RequestError(f'The inputs must be {", ".join(specs)}. Received an input "{key}".')
        size = _binary_size(given, len(binary))
        found[key] = _array(key, given, specs[key], binary[:size])
        binary = binary[size:]
    if binary:
        raise RequestError(f"{len(binary)} bytes of binary data belong to no input.")
    if missing := [key for key in specs if key not in found]:
        raise RequestError(f"The request must have the inputs {', '.join(missing)}.")
    return name, found


def _binary_size(given: Mapping[str, Any], most: int) -> int:
    """Size of the binary data of an input; 0 if its data are JSON."""
    size = _member(given, "parameters", dict, {}).get("binary_data_size", 0)
    if type(size) is not int or not 0 <= size <= most:
        raise RequestError(
            f"'binary_data_size' must be at most {most}, the size of the binary data left. "
            f"Received: {shown(size)}."
        )
    return size


def _array(name: str, given: Mapping[str, Any], spec: tf.TensorSpec, binary: bytes) -> np.ndarray:
    datatype = _member(given, "datatype", str)
    if datatype != _DATATYPES[spec.dtype]:
        raise RequestError(
            f'The datatype of the input "{name}" must be {_DATATYPES[spec.dtype]}. Received: '
            f"{datatype}."
        )
    shape = _member(given, "shape", list)
    if not all(type(size) is int and size >= 0 for size in shape):
        raise RequestError(
            f'The shape of the input "{name}" must be a list of sizes. Received: {shown(shape)}.'
        )
    if binary:
        array = binary_data.to_array(binary, spec.dtype)
    elif "data" in given or math.prod(shape):
        array = to_array(_member(given, "data", list), spec.dtype)
    else:  # no data of a shape that has none
        array = binary_data.to_array(b"", spec.dtype)
    if array.size != math.prod(shape) or not spec.shape.is_compatible_with(shape):
        raise RequestError(
            f'The input "{name}" must have as much data as its shape, and the shape '
            f"{_described(name, spec)['shape']}. Received: {array.size} values, shape {shape}."
        )
    return array.reshape(shape)  # the data may be flat


def _member(document: Mapping[str, Any], name: str, kind: type, default: Any = None) -> Any:
    value = document.get(name, default)
    if not isinstance(value, kind):
        kinds: dict[type, str] = {list: "a list", dict: "an object", str: "a string"}
        raise RequestError(f"'{name}' must be {kinds[kind]}. Received: {shown(value)}.")
    return value


class InferResponse(NamedTuple):
    """Response to a request: its JSON, and the binary data that follow."""

    document: dict[str, Any]
    binary: bytes


def to_response(
    document: Mapping[str, Any],
    outputs: Mapping[str, np.ndarray],
    model: str,
    servable: Servable,
) -> InferResponse:
    """Response to a request.

    Args:
        document: Parsed body of the request. It may have an `id`, name the wanted `outputs`, and
            ask for binary data of all outputs or of one.
        outputs: Outputs of the signature, by name.
        model: Name of the model.
        servable: Version of the model.

    Raises:
        RequestError: If the request names an output that the signature does not have.
    """
    all_binary = _member(document, "parameters", dict, {}).get("binary_data_output") is True
    wanted = {
        _member(output, "name", str): _member(output, "parameters", dict, {})
        for output in _member(document, "outputs", list, [])
        if isinstance(output, dict)
    }
    if unknown := [name for name in wanted if name not in outputs]:
        raise RequestError(
            f"The outputs must be {', '.join(outputs)}. Received: {', '.join(unknown)}."
        )
    response: dict[str, Any] = {"model_name": model, "model_version": str(servable.version)}
    if isinstance(document.get("id"), str):
        response["id"] = document["id"]
    response["outputs"] = []
    binary = b""
    for name, array in outputs.items():
        if wanted and name not in wanted:
            continue
        dtype = tf.string if array.dtype == object else tf.as_dtype(array.dtype)
        output: dict[str, Any] = {
            "name": name,
            "datatype": _DATATYPES[dtype],
            "shape": list(array.shape),
        }
        if wanted.get(name, {}).get("binary_data", all_binary) is True:
            data = binary_data.to_bytes(array)
            output["parameters"] = {"binary_data_size": len(data)}
            binary += data
        else:
            output["data"] = to_json(array.ravel(), name)
        response["outputs"].append(output)
    return InferResponse(response, binary)
