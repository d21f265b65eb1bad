"""The Open Inference Protocol, which KServe, Triton and Seldon speak (version 2, over HTTP).

https://github.com/kserve/open-inference-protocol, `specification/protocol/inference_rest.md`. Data
is JSON; the binary extension of Triton is refused. The parameter `signature_name` of a request
chooses a signature of the SavedModel.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import numpy as np
import tensorflow as tf

from keras_attn import __version__
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

SERVER = {"name": "keras_attn", "version": __version__, "extensions": []}


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


def check_headers(headers: Mapping[str, str]) -> None:
    """Check that the body of a request is JSON alone.

    Raises:
        RequestError: If binary data follows the JSON.
    """
    if "inference-header-content-length" in headers:
        raise RequestError(
            "The data of a request must be JSON, not binary: `binary_data=False` in Triton's "
            "client.",
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        )


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


def question(document: Mapping[str, Any], servable: Servable) -> tuple[str, dict[str, np.ndarray]]:
    """Name of the signature that a request uses, and its inputs.

    Args:
        document: Parsed body of the request.
        servable: Version of the model.

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
        found[key] = _array(key, given, specs[key])
    if missing := [key for key in specs if key not in found]:
        raise RequestError(f"The request must have the inputs {', '.join(missing)}.")
    return name, found


def _array(name: str, given: Mapping[str, Any], spec: tf.TensorSpec) -> np.ndarray:
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
    if "data" not in given:
        raise RequestError(
            f'The input "{name}" must have its data as JSON: binary data is not supported.'
        )
    array = to_array(_member(given, "data", list), spec.dtype)
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


def answer(
    document: Mapping[str, Any],
    outputs: Mapping[str, np.ndarray],
    model: str,
    servable: Servable,
) -> dict[str, Any]:
    """Response to a request.

    Args:
        document: Parsed body of the request. It may have an `id`, and name the wanted `outputs`.
        outputs: Outputs of the signature, by name.
        model: Name of the model.
        servable: Version of the model.

    Raises:
        RequestError: If the request names an output that the signature does not have.
    """
    wanted = [
        _member(output, "name", str)
        for output in _member(document, "outputs", list, [])
        if isinstance(output, dict)
    ]
    if unknown := [name for name in wanted if name not in outputs]:
        raise RequestError(
            f"The outputs must be {', '.join(outputs)}. Received: {', '.join(unknown)}."
        )
    response: dict[str, Any] = {"model_name": model, "model_version": str(servable.version)}
    if isinstance(document.get("id"), str):
        response["id"] = document["id"]
    response["outputs"] = [
        {
            "name": name,
            "datatype": _DATATYPES[
                tf.string if array.dtype == object else tf.as_dtype(array.dtype)
            ],
            "shape": list(array.shape),
            "data": to_json(array.ravel(), name),
        }
        for name, array in outputs.items()
        if name in (wanted or outputs)
    ]
    return response
