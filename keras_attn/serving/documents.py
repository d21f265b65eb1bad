"""Model status and metadata documents of the REST API of TensorFlow Serving."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from google.protobuf import json_format
from google.protobuf.message import Message
from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2, model_pb2

from keras_attn.serving.servable import Servable

# Error codes in the status of a version.
OK, UNKNOWN = 0, 2


class VersionStatus(NamedTuple):
    """Version number, state (`ModelVersionStatus.State` of TensorFlow Serving), error message."""

    version: int
    state: str
    error: str = ""


def status(versions: Iterable[VersionStatus]) -> dict[str, Any]:
    """`GetModelStatusResponse` as JSON."""
    response = get_model_status_pb2.GetModelStatusResponse()
    add_statuses(response, versions)
    return _as_json(response)


def add_statuses(
    response: get_model_status_pb2.GetModelStatusResponse, versions: Iterable[VersionStatus]
) -> None:
    """Add the statuses of versions to a response."""
    for one in versions:
        row = response.model_version_status.add(
            version=one.version,
            state=get_model_status_pb2.ModelVersionStatus.State.Value(one.state),
        )
        row.status.error_code = UNKNOWN if one.error else OK
        row.status.error_message = one.error


def metadata(name: str, servable: Servable) -> dict[str, Any]:
    """`GetModelMetadataResponse` of a version as JSON; `name` is the name of the model."""
    spec = model_pb2.ModelSpec(name=name)
    spec.version.value = servable.version
    return {
        "model_spec": _as_json(spec),
        "metadata": {"signature_def": _as_json(signature_map(servable))},
    }


def signature_map(servable: Servable) -> get_model_metadata_pb2.SignatureDefMap:
    """Signature definitions of a version."""
    signatures = get_model_metadata_pb2.SignatureDefMap()
    for key, definition in servable.signature_defs().items():
        signatures.signature_def[key].CopyFrom(definition)
    return signatures


def _as_json(message: Message) -> dict[str, Any]:
    return json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
