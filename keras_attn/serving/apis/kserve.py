"""The Open Inference Protocol, which KServe, Triton and Seldon speak (version 2, over HTTP).

https://github.com/kserve/open-inference-protocol, `specification/protocol/inference_rest.md`. Data
is JSON, or binary as Triton's clients send it by default
(https://github.com/triton-inference-server/server, `docs/protocol/extension_binary_data.md`): it
follows the JSON of a request or response, and a header tells the size of the JSON. The parameter
`signature_name` of a request chooses a signature of the SavedModel.
"""

import math
import re
import struct
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import numpy as np
import tensorflow as tf
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from keras_attn import __version__
from keras_attn.serving import body
from keras_attn.serving.apis.api import Api
from keras_attn.serving.errors import RequestError
from keras_attn.serving.pieces import Tensors, num_bytes
from keras_attn.serving.servable import DEFAULT_SIGNATURE, Servable
from keras_attn.serving.tensors import as_json, shown, to_array, to_document
from keras_attn.serving.versions import Versions

_DATATYPES = {
    tf.bool: "BOOL", tf.uint8: "UINT8", tf.uint16: "UINT16", tf.uint32: "UINT32",
    tf.uint64: "UINT64", tf.int8: "INT8", tf.int16: "INT16", tf.int32: "INT32", tf.int64: "INT64",
    tf.float16: "FP16", tf.float32: "FP32", tf.float64: "FP64", tf.string: "BYTES",
}  # fmt: skip
_PATH = re.compile(
    r"/v2/models/(?P<name>[^/]+)(?:/versions/(?P<version>[0-9]{1,19}))?(?P<verb>/ready|/infer)?"
)

_SERVER = {"name": "keras_attn", "version": __version__, "extensions": ["binary_tensor_data"]}
_HEADER = "Inference-Header-Content-Length"
_STRING_SIZE = struct.Struct("<I")


class KServe(Api):
    """Routes below `/v2`, without those of health."""

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/v2", self._describe),
            Route("/v2/repository/index", self._index, methods=["POST"]),
            Route("/v2/models/{rest:path}", self._respond, methods=["GET", "POST"]),
        ]

    async def _describe(self, request: Request) -> Response:
        return JSONResponse(_SERVER)

    async def _index(self, request: Request) -> Response:
        """Versions of all models, as Triton's clients list them (extension `model_repository`)."""
        seen = ((name, one) for name, versions in self._models.items() for one in versions.seen())
        return JSONResponse(
            [
                {
                    "name": name,
                    "version": str(one.version),
                    "state": "READY" if one.state == "AVAILABLE" else "UNAVAILABLE",
                    "reason": one.error,
                }
                for name, one in seen
            ]
        )

    async def _respond(self, request: Request) -> Response:
        arrived = time.monotonic()
        verb, versions, number = parse_path(request.method, body.raw_path(request), self._models)
        if verb == "infer":
            content = await body.read(request, self._settings)
            content, binary = split(content, request.headers.get(_HEADER))
            document = await body.off_loop(len(content), body.parse_json, content)
            with versions.use(number) as servable:
                size = len(content) + len(binary)
                name, inputs = await body.off_loop(size, parse_request, document, servable, binary)
                outputs = await self._inference.answer(request, servable, name, inputs, arrived)
                given, size = (document, outputs, versions.name, servable), num_bytes(outputs)
                return await body.off_loop(size, to_response, *given)
        if verb == "ready" and number is None and not versions.is_warm:
            state = {"status": "loading", "name": versions.name, "ready": False}
            return JSONResponse(state, HTTPStatus.SERVICE_UNAVAILABLE)
        with versions.use(number) as servable:
            if verb == "ready":
                state = {"status": "ok", "name": versions.name, "ready": True}
                return JSONResponse({**state, "version": servable.version})
            return JSONResponse(metadata(versions.name, servable))


def parse_path(
    method: str, path: str, models: Mapping[str, Versions]
) -> tuple[str, Versions, int | None]:
    """Operation, model, and number of the version that a request names, or None.

    The `path` is percent-encoded. The operation is `"metadata"`, `"ready"` or `"infer"`.
    """
    match = _PATH.fullmatch(path)
    if match is None:
        raise RequestError(f"There is no path {path}.", HTTPStatus.NOT_FOUND)
    verb = (match["verb"] or "/metadata")[1:]
    if (verb == "infer") != (method == "POST"):
        raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED)
    if (name := unquote(match["name"])) not in models:
        raise RequestError(
            f'There is no model "{name}". This server has {", ".join(models)}.',
            HTTPStatus.NOT_FOUND,
        )
    return verb, models[name], int(match["version"]) if match["version"] else None


def allowed(path: str) -> str:
    """Methods that a path below `/v2/models/` supports, for the header `Allow`."""
    return "POST" if path.endswith("/infer") else "GET, HEAD"


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
    shape = [-1 if size is None else size for size in spec.shape]
    return {"name": name, "datatype": _DATATYPES[spec.dtype], "shape": shape}


def parse_request(
    document: Mapping[str, Any], servable: Servable, binary: bytes
) -> tuple[str, Tensors]:
    """Name of the signature that a request uses, and its inputs, some of them in `binary`."""
    parameters = _member(document, "parameters", dict, {})
    name = _member(parameters, "signature_name", str, DEFAULT_SIGNATURE)
    specs = servable.signature(name).inputs
    found: Tensors = {}
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
    # The rank first: the product of many sizes takes long.
    if len(shape) != spec.shape.rank or not all(type(size) is int and size >= 0 for size in shape):
        raise RequestError(
            f'The shape of the input "{name}" must be a list of sizes like '
            f"{_described(name, spec)['shape']}. Received: {len(shape)} sizes, {shown(shape)}."
        )
    if binary:
        array = from_binary(binary, spec.dtype)
    else:  # a shape that has no data needs none
        array = to_array(_member(given, "data", list, None if math.prod(shape) else []), spec.dtype)
    if array.size != math.prod(shape) or not spec.shape.is_compatible_with(shape):
        raise RequestError(
            f'The input "{name}" must have as much data as its shape, and the shape '
            f"{_described(name, spec)['shape']}. Received: {array.size} values, shape "
            f"{shown(shape)}."
        )
    return array.reshape(shape)  # the data may be flat


def _member(document: Mapping[str, Any], name: str, kind: type, default: Any = None) -> Any:
    value = document.get(name, default)
    if not isinstance(value, kind):
        kinds: dict[type, str] = {list: "a list", dict: "an object", str: "a string"}
        raise RequestError(f"'{name}' must be {kinds[kind]}. Received: {shown(value)}.")
    return value


def to_response(
    document: Mapping[str, Any], outputs: Tensors, model: str, servable: Servable
) -> Response:
    """Response to a request.

    It may have an `id`, name the wanted `outputs`, and want binary data of all outputs or of one.
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
        datatype = _DATATYPES[tf.as_dtype(array.dtype)]
        output: dict[str, Any] = {"name": name, "datatype": datatype, "shape": list(array.shape)}
        if wanted.get(name, {}).get("binary_data", all_binary) is True:
            data = to_binary(array)
            output["parameters"] = {"binary_data_size": len(data)}
            binary += data
        else:
            output["data"] = to_document(array.ravel(), name)
        response["outputs"].append(output)
    content = as_json(response)
    if not binary:
        return Response(content, media_type="application/json")
    return Response(
        content + binary,
        headers={_HEADER: str(len(content))},
        media_type="application/octet-stream",
    )


def split(content: bytes, json_size: str | None) -> tuple[bytes, bytes]:
    """JSON and binary data of a body; without the header `json_size` it is JSON alone."""
    if json_size is None:
        return content, b""
    if not re.fullmatch("[0-9]{1,18}", json_size) or int(json_size) > len(content):
        raise RequestError(
            f"The header {_HEADER} must be the size of the JSON in the body of {len(content)} "
            f"bytes. Received: {json_size[:20]}."
        )
    return content[: int(json_size)], content[int(json_size) :]


def from_binary(data: bytes, dtype: tf.DType) -> np.ndarray:
    """Values in binary data, `(N,)`.

    Example:

    >>> from_binary(b"\\x03\\0\\0\\0dog", tf.string)
    array([b'dog'], dtype=object)
    """
    if dtype != tf.string:
        numbers = np.dtype(dtype.as_numpy_dtype).newbyteorder("<")
        if len(data) % numbers.itemsize:
            raise RequestError(f"Binary data of {dtype.name} end within a value.")
        return np.frombuffer(data, numbers).astype(dtype.as_numpy_dtype)
    strings, at = [], 0
    while at < len(data):
        start = at + _STRING_SIZE.size
        at = start + (_STRING_SIZE.unpack_from(data, at)[0] if start <= len(data) else 1)
        if at > len(data):
            raise RequestError("Binary data of strings end within a string.")
        strings.append(data[start:at])
    return np.array(strings, object)


def to_binary(array: np.ndarray) -> bytes:
    """Binary data of an output.

    Example:

    >>> to_binary(np.array([b"dog"], object))
    b'\\x03\\x00\\x00\\x00dog'
    """
    if array.dtype == object:
        return b"".join(_STRING_SIZE.pack(len(text)) + text for text in array.ravel())
    return array.astype(array.dtype.newbyteorder("<")).tobytes()
