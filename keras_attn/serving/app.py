"""ASGI application: three REST APIs, gRPC, web page, health, metrics.

The REST APIs are those of TensorFlow Serving (`paths`, `protocol`), KServe (`kserve`) and
LibreTranslate (`libretranslate`).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from keras_attn.serving import (
    binary_data,
    body,
    documents,
    glossary,
    kserve,
    libretranslate,
    paths,
    protocol,
    streaming,
)
from keras_attn.serving.access_log import AccessLog
from keras_attn.serving.errors import CLIENT_CLOSED_REQUEST, RequestError
from keras_attn.serving.inference import Inference
from keras_attn.serving.metrics import Metrics
from keras_attn.serving.models import Models
from keras_attn.serving.prediction_service import PredictionService, served
from keras_attn.serving.servable import Servable
from keras_attn.serving.settings import Settings
from keras_attn.serving.website import Website
from keras_attn.translation.runtime import allocator

# Seconds between two returns of freed memory to the system. The C library keeps what the warm-up
# and batches of many sizes leave behind. Returning it takes 0.1 s (benchmarks/results/serving.md).
MEMORY_SECONDS = 60.0


class Server:
    """Server of one or several models.

    Args:
        path: Folder of all versions of a model, whose name is the name of the model; folder of such
            folders; or file `models.config`.
        settings: Settings of the server.

    Attributes:
        models: Models of the server, by name.

    Raises:
        ValueError: If the file is invalid.
        OSError: If the path cannot be read.
    """

    def __init__(self, path: Path, settings: Settings):
        self._settings = settings
        self.models = Models(path, settings.poll_seconds)
        self._metrics = Metrics()
        self._inference = Inference(settings, self._metrics)

    def app(self) -> AccessLog:
        """ASGI application."""
        origins = self._settings.cors_origins
        cross_origin = Middleware(
            CORSMiddleware, allow_origins=origins, allow_methods=["*"], allow_headers=["*"]
        )
        app = Starlette(
            routes=self.routes(),
            middleware=[cross_origin] if origins else [],
            lifespan=self._lifespan,
            exception_handlers={
                RequestError: _refused,
                HTTPException: _not_served,
                ClientDisconnect: _closed,
                Exception: _failed,
            },
        )
        return AccessLog(app, self._metrics)

    def routes(self) -> list[BaseRoute]:
        """HTTP routes, which `openapi` describes."""
        return [
            *Website(self.models, self._settings).routes(),
            Route("/healthz", self._health),
            Route("/livez", self._live),
            Route("/metrics", self._show_metrics),
            Route("/v1/{rest:path}", self._api, methods=["GET", "POST", "OPTIONS"]),
            Route("/v2", self._kserve_server),
            Route("/v2/health/live", self._live),
            Route("/v2/health/ready", self._health),
            Route("/v2/repository/index", self._kserve_index, methods=["POST"]),
            Route("/v2/models/{rest:path}", self._kserve, methods=["GET", "POST"]),
            Route("/translate", self._translate, methods=["POST"]),
            Route("/translate/stream", self._stream, methods=["POST"]),
            Route("/detect", self._detect, methods=["POST"]),
            Route("/languages", self._languages),
            Route("/health", self._live),
        ]

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(one) for one in (self.models.watch(), _return_memory())]
        service = PredictionService(self.models, self._inference, self._settings, self._metrics)
        listening = served(service, self._settings) if self._settings.grpc_port else nullcontext()
        async with listening:
            yield
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._inference.close()

    async def _api(self, request: Request) -> Response:
        """TensorFlow Serving."""
        if request.method == "OPTIONS":
            methods = paths.allowed(_raw_path(request))
            return Response(status_code=HTTPStatus.NO_CONTENT, headers={"Allow": methods})
        arrived = time.monotonic()
        target = paths.parse(request.method, _raw_path(request), self.models)
        versions = self.models[target.model]
        if target.verb == "status":
            return JSONResponse(documents.status(versions.statuses(target.version)))
        if target.verb == "metadata":
            with versions.use(target.version) as servable:
                name = versions.name
                return JSONResponse(await asyncio.to_thread(documents.metadata, name, servable))
        content = await self._body(request)
        with versions.use(target.version) as servable:
            if target.verb != "predict":
                raise RequestError(
                    f"Expected {_METHODS[target.verb]} signature method_name to be "
                    f"tensorflow/serving/{target.verb}. Was: tensorflow/serving/predict"
                )
            name, parsed = _parse_request(protocol.read(content), servable)
            outputs = await self._inference.answer(request, servable, name, parsed.inputs, arrived)
        answer = await asyncio.to_thread(protocol.to_response, outputs, parsed.form)
        return Response(answer, media_type="application/json")

    async def _kserve(self, request: Request) -> Response:
        """Open Inference Protocol."""
        arrived = time.monotonic()
        target = kserve.parse(request.method, _raw_path(request), self.models)
        versions = self.models[target.model]
        if target.verb == "infer":
            json_size = request.headers.get(binary_data.HEADER)
            content, binary = binary_data.split(await self._body(request), json_size)
            document = protocol.read(content)
            with versions.use(target.version) as servable:
                name, inputs = kserve.parse_request(document, servable, binary)
                outputs = await self._inference.answer(request, servable, name, inputs, arrived)
                answer = kserve.to_response(document, outputs, versions.name, servable)
            return _inferred(answer)
        if target.verb == "ready" and target.version is None and not versions.is_warm:
            return JSONResponse({"status": "loading"}, HTTPStatus.SERVICE_UNAVAILABLE)
        with versions.use(target.version) as servable:
            if target.verb == "ready":
                return JSONResponse({"status": "ok", "version": servable.version})
            return JSONResponse(kserve.metadata(versions.name, servable))

    async def _kserve_server(self, request: Request) -> Response:
        return JSONResponse(kserve.SERVER)

    async def _kserve_index(self, request: Request) -> Response:
        return JSONResponse(kserve.index(self.models))

    async def _translate(self, request: Request) -> Response:
        """LibreTranslate: translation."""
        arrived = time.monotonic()
        document = await self._members(request)
        translators = self.models.translators()
        asked = libretranslate.parse_request(document, translators)
        with translators[asked.pair].use(None) as servable:
            outputs = await self._inference.answer(
                request, servable, asked.signature, asked.inputs, arrived
            )
        return JSONResponse(libretranslate.to_response(asked, outputs, translators))

    async def _stream(self, request: Request) -> Response:
        """Translation of one text sentence by sentence."""
        document = await self._members(request)
        translators = self.models.translators()
        asked = libretranslate.parse_request(document, translators)
        limits = self._settings
        events = streaming.events(
            asked,
            translators[asked.pair],
            self._inference,
            min(limits.batch_rows, limits.max_rows),
        )
        first = await anext(events)  # an error before it has a status of its own
        return StreamingResponse(
            streaming.with_first(first, events),
            media_type=streaming.MEDIA_TYPE,
            headers=streaming.HEADERS,
        )

    async def _detect(self, request: Request) -> Response:
        """LibreTranslate: languages of a text."""
        document = await self._members(request)
        return JSONResponse(libretranslate.detect(document, self.models.translators()))

    async def _languages(self, request: Request) -> Response:
        """LibreTranslate: languages of the translators."""
        return JSONResponse(libretranslate.languages(self.models.translators()))

    async def _members(self, request: Request) -> Mapping[str, Any]:
        """Members of the body of a request, an HTML form or JSON."""
        content = await self._body(request)
        is_form = "urlencoded" in request.headers.get("content-type", "")
        return libretranslate.form(content) if is_form else protocol.read(content)

    async def _body(self, request: Request) -> bytes:
        return await body.read(request, self._settings.max_body, self._settings.max_seconds)

    async def _health(self, request: Request) -> Response:
        served = self.models.served()
        if not self.models.is_ready:
            state = "warming up" if served else "loading"
            return JSONResponse({"status": state}, HTTPStatus.SERVICE_UNAVAILABLE)
        return JSONResponse({"status": "ok", "models": served})

    async def _live(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _show_metrics(self, request: Request) -> Response:
        for name, version in self.models.served().items():
            self._metrics.version.labels(name).set(version)
        self._metrics.queue_rows.set(self._inference.num_rows)
        return Response(self._metrics.page(), headers={"Content-Type": CONTENT_TYPE_LATEST})


async def _return_memory() -> None:
    """Return freed memory to the system from time to time, until cancelled."""
    while True:
        await asyncio.sleep(MEMORY_SECONDS)
        await asyncio.to_thread(allocator.return_freed_memory)


def _raw_path(request: Request) -> str:
    """Percent-encoded path, without that of the proxy before the server."""
    path = request.scope["raw_path"].decode("latin-1")
    return path.removeprefix(request.scope.get("root_path", ""))


_METHODS = {"classify": "classification", "regress": "regression"}


def _parse_request(
    document: Mapping[str, Any], servable: Servable
) -> tuple[str, protocol.PredictRequest]:
    """Name of the signature that a request uses, and its inputs."""
    terms = glossary.from_member(document)
    if not terms:
        name = protocol.signature_name(document)
        return name, protocol.parse_request(document, servable.signature(name).inputs)
    specs = glossary.signature(servable).inputs
    others = {name: spec for name, spec in specs.items() if name not in terms}
    parsed = protocol.parse_request(document, others)
    return glossary.SIGNATURE, parsed._replace(inputs={**parsed.inputs, **terms})


def _inferred(answer: kserve.InferResponse) -> Response:
    content = protocol.as_json(answer.document)
    if not answer.binary:
        return Response(content, media_type="application/json")
    return Response(
        content + answer.binary,
        headers={binary_data.HEADER: str(len(content))},
        media_type="application/octet-stream",
    )


async def _refused(request: Request, error: Any) -> Response:
    return JSONResponse({"error": error.message}, error.status, error.headers)


async def _not_served(request: Request, error: Any) -> Response:
    """Answer for an unknown path, or for a method that a path does not support."""
    message = f"Malformed request: {request.method} {_raw_path(request)}"
    headers = error.headers
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED and _raw_path(request).startswith("/v1/"):
        headers = {"Allow": paths.allowed(_raw_path(request))}
    return JSONResponse({"error": message}, error.status_code, headers)


async def _closed(request: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED_REQUEST)


async def _failed(request: Request, error: Exception) -> Response:
    return JSONResponse(
        {"error": "The server failed to answer. See the log of the server for the reason."},
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )
