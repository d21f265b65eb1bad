"""REST API of TensorFlow Serving: predict, model status and metadata.

Formats and error messages follow the documentation of TensorFlow Serving (`api_rest.md`) and the
answers of the original server.
"""

import re
import time
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

import numpy as np
import tensorflow as tf
from google.protobuf import json_format
from google.protobuf.message import Message
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from tensorflow_serving.apis import get_model_status_pb2, model_pb2

from keras_attn.serving import body, glossary
from keras_attn.serving.apis.api import Api
from keras_attn.serving.errors import RequestError
from keras_attn.serving.pieces import Tensors, num_bytes
from keras_attn.serving.servable import DEFAULT_SIGNATURE, Servable
from keras_attn.serving.tensors import as_json, is_binary, shown, to_array, to_document
from keras_attn.serving.versions import Versions, VersionStatus, no_versions, not_found

_METHODS = {"classify": "classification", "regress": "regression"}
# Error codes in the status of a version.
OK, UNKNOWN = 0, 2
_MODEL = r"/v1/models/(?P<name>[^/:]+)"
_VERSION = r"(?:/versions/(?P<version>[0-9]+)|/labels/(?P<label>[^/:]+))?"
_GET = re.compile(rf"{_MODEL}{_VERSION}(?P<metadata>/metadata)?", re.IGNORECASE)
_POST = re.compile(rf"{_MODEL}{_VERSION}:(?P<verb>classify|regress|predict)", re.IGNORECASE)

Form = Literal["row", "column"]
Specs = Mapping[str, tf.TensorSpec]


class TensorFlowServing(Api):
    """Routes below `/v1/`."""

    def routes(self) -> list[BaseRoute]:
        return [Route("/v1/{rest:path}", self._respond, methods=["GET", "POST", "OPTIONS"])]

    async def _respond(self, request: Request) -> Response:
        path = body.raw_path(request)
        if request.method == "OPTIONS":
            return Response(status_code=HTTPStatus.NO_CONTENT, headers={"Allow": allowed(path)})
        arrived = time.monotonic()
        verb, versions, number = parse_path(request.method, path, self._models)
        if verb == "status":
            return JSONResponse(_as_json(status(versions.statuses(number))))
        if verb == "metadata":
            with versions.use(number) as servable:
                return JSONResponse(metadata(versions.name, servable))
        content = await body.read(request, self._settings)
        with versions.use(number) as servable:
            if verb != "predict":
                raise RequestError(
                    f"Expected {_METHODS[verb]} signature method_name to be "
                    f"tensorflow/serving/{verb}. Was: tensorflow/serving/predict"
                )
            name, parsed = await body.off_loop(len(content), _parse_predict, content, servable)
            outputs = await self._inference.answer(request, servable, name, parsed.inputs, arrived)
        response = await body.off_loop(num_bytes(outputs), to_response, outputs, parsed.form)
        return Response(response, media_type="application/json")


def parse_path(
    method: str, path: str, models: Mapping[str, Versions]
) -> tuple[str, Versions, int | None]:
    """Operation, model, and number of the version that a request names, or None.

    The `path` is percent-encoded. The operation is `"status"`, `"metadata"` or a verb.
    """
    form = {"GET": _GET, "HEAD": _GET, "POST": _POST}.get(method)
    match = form.fullmatch(path) if form else None
    if match is None:
        raise RequestError(f"Malformed request: {method} {path}")
    groups = match.groupdict()
    verb = groups.get("verb", "metadata" if groups.get("metadata") else "status").lower()
    version = None if groups["version"] is None else int(groups["version"])
    if version is not None and version >= 2**63:
        raise RequestError(f"Failed to convert version: {groups['version']} to numeric.")
    name = unquote(groups["name"])
    if name not in models:
        raise no_versions(name) if verb == "status" else not_found(name, version)
    if groups["label"] is not None:
        raise RequestError(f"Unrecognized servable version label: {unquote(groups['label'])}")
    return verb, models[name], version


def allowed(path: str) -> str:
    """Methods that a path supports, for the header `Allow`."""
    return "POST, OPTIONS" if _POST.fullmatch(path) else "GET, HEAD, OPTIONS"


class PredictRequest(NamedTuple):
    """Inputs of a request, and the format of the answer: rows or columns."""

    inputs: Tensors
    form: Form


def _parse_predict(content: bytes, servable: Servable) -> tuple[str, PredictRequest]:
    """Name of the signature that a request uses, and its inputs."""
    document = body.parse_json(content)
    terms, name = glossary.from_member(document), document.get("signature_name", "")
    if not isinstance(name, str):
        raise RequestError(
            f"JSON Value: {shown(document)} not formatted correctly. 'signature_name' key must be "
            "a string value."
        )
    name = name or DEFAULT_SIGNATURE
    if not terms:
        return name, parse_request(document, servable.signature(name).inputs)
    if name not in (DEFAULT_SIGNATURE, glossary.SIGNATURE):
        raise RequestError(
            f"A request with 'glossary' must have the 'signature_name' \"{DEFAULT_SIGNATURE}\", or "
            f"none. Received: {shown(name)}."
        )
    specs = glossary.signature(servable).inputs
    others = {name: spec for name, spec in specs.items() if name not in terms}
    parsed = parse_request(document, others)
    return glossary.SIGNATURE, parsed._replace(inputs={**parsed.inputs, **terms})


def parse_request(document: Mapping[str, Any], specs: Specs) -> PredictRequest:
    """Inputs of a request in row format (`instances`) or column format (`inputs`)."""
    if "instances" in document and "inputs" in document:
        raise RequestError(
            f"JSON Value: {shown(document)} Not formatted correctly expecting only one of 'inputs' "
            "or 'instances' keys to exist "
        )
    if "instances" in document:
        parsed = PredictRequest(_from_rows(document, specs), "row")
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


def _from_rows(document: Mapping[str, Any], specs: Specs) -> Tensors:
    instances = document["instances"]
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


def _add_row(rows: dict[str, list[np.ndarray]], name: str, value: Any, specs: Specs) -> None:
    if name not in specs:
        raise RequestError(f"JSON object: does not have named input: {name}")
    array = to_array(value, specs[name].dtype)
    for first in rows[name][:1]:
        if array.size != first.size:
            raise RequestError(f"Expecting tensor size: {first.size} but got: {array.size}")
        if array.shape != first.shape:
            expected, got = (",".join(map(str, one.shape)) for one in (first, array))
            raise RequestError(f"Expecting shape [{expected}] but got: [{got}]")
    rows[name].append(array)


def _from_columns(inputs: Any, specs: Specs) -> Tensors:
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


def to_response(outputs: Tensors, form: Form) -> bytes:
    """Body of the response to a request of this form."""
    if form == "row":
        document: dict[str, Any] = {"predictions": _rows(outputs)}
    else:
        columns = {name: to_document(array, name) for name, array in outputs.items()}
        document = {"outputs": columns if len(columns) > 1 else next(iter(columns.values()))}
    return as_json(document)


def _rows(outputs: Tensors) -> list[Any]:
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
    columns = [to_document(array, name) for name, array in outputs.items()]
    if len(columns) == 1:
        return columns[0]
    return [dict(zip(outputs, row, strict=True)) for row in zip(*columns, strict=True)]


def status(versions: Iterable[VersionStatus]) -> get_model_status_pb2.GetModelStatusResponse:
    """Response with the statuses of versions."""
    response = get_model_status_pb2.GetModelStatusResponse()
    for one in versions:
        row = response.model_version_status.add(
            version=one.version,
            state=get_model_status_pb2.ModelVersionStatus.State.Value(one.state),
        )
        row.status.error_code = UNKNOWN if one.error else OK
        row.status.error_message = one.error
    return response


def metadata(name: str, servable: Servable) -> dict[str, Any]:
    """`GetModelMetadataResponse` of a version as JSON; `name` is the name of the model."""
    spec = model_pb2.ModelSpec(name=name)
    spec.version.value = servable.version
    return {
        "model_spec": _as_json(spec),
        "metadata": {"signature_def": _as_json(servable.signature_map)},
    }


def _as_json(message: Message) -> dict[str, Any]:
    return json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
