"""The answers of TensorFlow Serving's REST API about a model: its versions and its signatures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from google.protobuf import json_format
from google.protobuf.message import Message
from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2, model_pb2

from keras_attn.serving.servable import Servable

# Codes of the state of a version, by name as they are answered.
OK, UNKNOWN = 0, 2


class VersionStatus(NamedTuple):
    """A version of a model, its state in the words of TensorFlow Serving, and what went wrong."""

    version: int
    state: str
    error: str = ""


def status(versions: Iterable[VersionStatus]) -> dict[str, Any]:
    """`GetModelStatusResponse`."""
    response = get_model_status_pb2.GetModelStatusResponse()
    for one in versions:
        row = response.model_version_status.add(
            version=one.version,
            state=get_model_status_pb2.ModelVersionStatus.State.Value(one.state),
        )
        row.status.error_code = UNKNOWN if one.error else OK
        row.status.error_message = one.error
    return _as_json(response)


def metadata(name: str, servable: Servable) -> dict[str, Any]:
    """`GetModelMetadataResponse` of a version of the model of that name."""
    spec = model_pb2.ModelSpec(name=name)
    spec.version.value = servable.version
    signatures = get_model_metadata_pb2.SignatureDefMap()
    for key, definition in servable.signature_defs().items():
        signatures.signature_def[key].CopyFrom(definition)
    return {
        "model_spec": _as_json(spec),
        "metadata": {"signature_def": _as_json(signatures)},
    }


def _as_json(message: Message) -> dict[str, Any]:
    return json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
