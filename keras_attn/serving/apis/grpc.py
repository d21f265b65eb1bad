"""gRPC services of TensorFlow Serving: `PredictionService` and `ModelService`.

Messages and services are those of `tensorflow-serving-api`, so its clients work as they are.
`Predict`, `GetModelMetadata` and `GetModelStatus` are answered; the others are unimplemented.
"""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

import grpc
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_pb2,
    predict_pb2,
)

from keras_attn.serving import body
from keras_attn.serving.apis import tensorflow_serving
from keras_attn.serving.apis.api import Api
from keras_attn.serving.errors import CLIENT_CLOSED_REQUEST, FAILED, RequestError
from keras_attn.serving.inference import Inference
from keras_attn.serving.metrics import Metrics
from keras_attn.serving.models import Models
from keras_attn.serving.pieces import Tensors, num_bytes
from keras_attn.serving.servable import DEFAULT_SIGNATURE, Servable
from keras_attn.serving.tensors import MAX_RANK
from keras_attn.serving.versions import Versions, no_versions, not_found

_log = logging.getLogger(__name__)
# Status codes of gRPC for those of HTTP.
_CODES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    404: grpc.StatusCode.NOT_FOUND,
    413: grpc.StatusCode.INVALID_ARGUMENT,
    503: grpc.StatusCode.UNAVAILABLE,
    504: grpc.StatusCode.DEADLINE_EXCEEDED,
}
_METADATA_FIELD = "signature_def"
# Seconds before the services stop in which they refuse requests.
CLOSED_SECONDS = 0.5


class PredictionService(Api):
    """Both services for all models of a server; responses are serialized."""

    def __init__(self, models: Models, inference: Inference, metrics: Metrics):
        super().__init__(models, inference)
        self._metrics = metrics
        self.is_closed = False

    @asynccontextmanager
    async def served(self) -> AsyncIterator[None]:
        """Listen for gRPC within the block; afterwards running requests may finish."""
        settings = self._settings
        milliseconds = 1000 * settings.keep_alive
        options = {
            "grpc.max_receive_message_length": settings.max_body,
            "grpc.so_reuseport": 0,
            # Hang up on clients that do not read.
            "grpc.keepalive_time_ms": milliseconds,
            "grpc.keepalive_timeout_ms": milliseconds,
            "grpc.keepalive_permit_without_calls": 1,
        }
        server = grpc.aio.server(options=list(options.items()))
        server.add_generic_rpc_handlers(self._handlers())
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        try:
            server.add_insecure_port(f"{host}:{settings.grpc_port}")
        except RuntimeError as error:
            message = f"Cannot listen for gRPC on port {settings.grpc_port}: {error}"
            raise OSError(message) from error
        await server.start()
        try:
            yield
        finally:
            # gRPC cancels requests that arrive while it stops, and clients do not repeat these.
            # Those that are refused as UNAVAILABLE are sent to another server.
            self.is_closed = True
            await asyncio.sleep(CLOSED_SECONDS)
            await server.stop(settings.max_seconds)

    def _handlers(self) -> list[grpc.GenericRpcHandler]:
        """Handlers of the methods, not by the stubs, which serialize responses on the loop."""
        predict = predict_pb2.PredictRequest
        metadata = get_model_metadata_pb2.GetModelMetadataRequest
        status = get_model_status_pb2.GetModelStatusRequest

        def handler(service: str, name: str, respond: Any, request: Any) -> grpc.GenericRpcHandler:
            answer = partial(self._answer, name, respond)
            methods = {name: grpc.unary_unary_rpc_method_handler(answer, request.FromString)}
            return grpc.method_handlers_generic_handler(f"tensorflow.serving.{service}", methods)

        return [
            handler("PredictionService", "Predict", self._predict, predict),
            handler("PredictionService", "GetModelMetadata", self._metadata, metadata),
            handler("ModelService", "GetModelStatus", self._status, status),
        ]

    async def _answer(self, method: str, respond: Any, request: Any, context: Any) -> bytes:
        """Response to a request; a refusal becomes a status of gRPC."""
        start, status = time.perf_counter(), int(HTTPStatus.INTERNAL_SERVER_ERROR)
        try:
            if self.is_closed:
                raise RequestError("The server is shutting down.", HTTPStatus.SERVICE_UNAVAILABLE)
            response = await self._inference.in_time(respond(request, context))
            status = int(HTTPStatus.OK)
            return response
        except RequestError as error:
            status = int(error.status)
            code = _CODES.get(status, grpc.StatusCode.UNKNOWN)
            return await context.abort(code, error.message)
        except asyncio.CancelledError:
            status = CLIENT_CLOSED_REQUEST
            raise
        except Exception:
            _log.exception("failed", extra={"method": method})
            return await context.abort(grpc.StatusCode.INTERNAL, FAILED)
        finally:
            seconds = time.perf_counter() - start
            self._metrics.answered("grpc", status, seconds)
            extra = {"method": method, "status": status, "milliseconds": round(1000 * seconds, 1)}
            _log.info("request", extra=extra)

    async def _predict(self, request: Any, context: Any) -> bytes:
        # Such as ipv4:127.0.0.1:40000, but the port
        client = context.peer().partition(":")[2].rpartition(":")[0]
        versions, number = self._versions(request.model_spec)
        with versions.use(number) as servable:
            name = request.model_spec.signature_name or DEFAULT_SIGNATURE
            specs, most = servable.signature(name).inputs, self._settings.max_body
            inputs = await body.off_loop(request.ByteSize(), _arrays, request.inputs, specs, most)
            outputs = await self._inference.compute(servable, name, inputs, client)
            wanted = list(request.output_filter) or list(outputs)
            if unknown := [one for one in wanted if one not in outputs]:
                raise RequestError(
                    f"output tensor alias not found in signature: {unknown[0]} Outputs expected to "
                    f"be in the set {{{','.join(sorted(outputs))}}}."
                )
            response = predict_pb2.PredictResponse(model_spec=_spec(versions, servable))
            response.model_spec.signature_name = name
            outputs = {one: outputs[one] for one in wanted}
            return await body.off_loop(num_bytes(outputs), _serialized, response, outputs)

    async def _metadata(self, request: Any, context: Any) -> bytes:
        for field in request.metadata_field:
            if field != _METADATA_FIELD:
                raise RequestError(f"Metadata field {field} is not supported")
        if not request.metadata_field:
            raise RequestError("GetModelMetadataRequest must specify at least one metadata_field")
        versions, number = self._versions(request.model_spec)
        with versions.use(number) as servable:
            spec = _spec(versions, servable)
            response = get_model_metadata_pb2.GetModelMetadataResponse(model_spec=spec)
            response.metadata[_METADATA_FIELD].Pack(servable.signature_map)
            return response.SerializeToString()

    async def _status(self, request: Any, context: Any) -> bytes:
        versions, number = self._versions(request.model_spec, is_status=True)
        return tensorflow_serving.status(versions.statuses(number)).SerializeToString()

    def _versions(self, spec: Any, is_status: bool = False) -> tuple[Versions, int | None]:
        """The model that a request names, and the number of its version or None for the served."""
        number = spec.version.value if spec.HasField("version") else None
        if spec.name not in self._models:
            raise no_versions(spec.name) if is_status else not_found(spec.name, number)
        if spec.version_label:
            raise RequestError(f"Unrecognized servable version label: {spec.version_label}")
        return self._models[spec.name], number


def _serialized(response: Any, outputs: Tensors) -> bytes:
    for name, array in outputs.items():
        response.outputs[name].CopyFrom(tf.make_tensor_proto(array))
    return response.SerializeToString()


def _spec(versions: Versions, servable: Servable) -> Any:
    spec = model_pb2.ModelSpec(name=versions.name)
    spec.version.value = servable.version
    return spec


def _arrays(protos: Mapping[str, Any], specs: Mapping[str, tf.TensorSpec], most: int) -> Tensors:
    """Inputs of a request as arrays of at most `most` values."""
    for name in (*protos, *specs):
        if name not in specs or name not in protos:
            raise RequestError(
                f"input tensor alias not found in signature: {name}. Inputs expected to be in the "
                f"set {{{','.join(sorted(specs))}}}."
            )
    return {name: _array(name, protos[name], spec, most) for name, spec in specs.items()}


def _array(name: str, proto: Any, spec: tf.TensorSpec, most: int) -> np.ndarray:
    if proto.dtype != spec.dtype.as_datatype_enum:
        known = proto.dtype in types_pb2.DataType.values()
        given = types_pb2.DataType.Name(proto.dtype) if known else proto.dtype
        raise RequestError(f"Tensor {name} has type {given}, expected {spec.dtype.name}")
    # The product of more sizes takes long.
    shape = [dimension.size for dimension in proto.tensor_shape.dim[: MAX_RANK + 1]]
    # Before the array is made: a tensor of few bytes may claim any shape, because `make_ndarray`
    # repeats the last value.
    has_size = not proto.tensor_shape.unknown_rank and all(size >= 0 for size in shape)
    if not has_size or not spec.shape.is_compatible_with(shape):
        raise RequestError(f"Tensor {name} has shape {shape}, expected {spec.shape.as_list()}")
    if math.prod(shape) > most:
        raise RequestError(f"Tensor {name} has shape {shape}, more than {most} values")
    try:
        if spec.dtype == tf.string and not proto.string_val and not proto.tensor_content:
            return np.full(shape, b"", object)  # `make_ndarray` fills with text, not bytes
        return tf.make_ndarray(proto)
    except (TypeError, ValueError) as error:
        raise RequestError(f"Tensor {name} cannot be read: {error}") from error
