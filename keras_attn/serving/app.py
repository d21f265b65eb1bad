"""ASGI application: three REST APIs, gRPC, web page, health, metrics.

The protocols are in `apis`, one file for each.
"""

import asyncio
from collections.abc import AsyncIterator
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
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from keras_attn.serving import body
from keras_attn.serving.access_log import AccessLog
from keras_attn.serving.apis import kserve, tensorflow_serving
from keras_attn.serving.apis.grpc import PredictionService
from keras_attn.serving.apis.kserve import KServe
from keras_attn.serving.apis.libretranslate import LibreTranslate
from keras_attn.serving.apis.streaming import Streaming
from keras_attn.serving.apis.tensorflow_serving import TensorFlowServing
from keras_attn.serving.errors import CLIENT_CLOSED_REQUEST, FAILED, RequestError
from keras_attn.serving.inference import Inference
from keras_attn.serving.metrics import Metrics
from keras_attn.serving.models import Models
from keras_attn.serving.settings import Settings
from keras_attn.serving.website import Website
from keras_attn.translation.runtime import allocator

_APIS = (Website, TensorFlowServing, KServe, LibreTranslate, Streaming)
# Seconds between two returns of freed memory to the system. The C library keeps what the warm-up
# and batches of many sizes leave behind. Returning it takes 0.1 s (benchmarks/results/serving.md).
MEMORY_SECONDS = 60.0


class Server:
    """Server of one or several models; `path` is as for `Models`."""

    def __init__(self, path: Path, settings: Settings):
        self._settings = settings
        self.models = Models(path, settings.poll_seconds)
        self._metrics = Metrics()
        self._inference = Inference(settings, self._metrics)

    def app(self) -> AccessLog:
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
            Route("/healthz", self._health),
            Route("/livez", self._live),
            Route("/metrics", self._show_metrics),
            Route("/health", self._live),
            Route("/v2/health/live", self._live),
            Route("/v2/health/ready", self._health),
            *(route for api in _APIS for route in api(self.models, self._inference).routes()),
        ]

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(one) for one in (self.models.watch(), _return_memory())]
        service = PredictionService(self.models, self._inference, self._metrics)
        async with service.served() if self._settings.grpc_port else nullcontext():
            yield
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._inference.batcher.close()

    async def _health(self, request: Request) -> Response:
        served = self.models.served()
        if not self.models.is_ready:
            state = "warming up" if served else "loading"
            answer = {"status": state, "ready": False}
            return JSONResponse(answer, HTTPStatus.SERVICE_UNAVAILABLE)
        return JSONResponse({"status": "ok", "ready": True, "models": served})

    async def _live(self, request: Request) -> Response:
        return JSONResponse({"status": "ok", "live": True})

    async def _show_metrics(self, request: Request) -> Response:
        for name, version in self.models.served().items():
            self._metrics.version.labels(name).set(version)
        self._metrics.queue_rows.set(self._inference.batcher.num_rows)
        return Response(self._metrics.page(), headers={"Content-Type": CONTENT_TYPE_LATEST})


async def _return_memory() -> None:
    """Return freed memory to the system from time to time, until cancelled."""
    while True:
        await asyncio.sleep(MEMORY_SECONDS)
        await asyncio.to_thread(allocator.return_freed_memory)


async def _refused(request: Request, error: Any) -> Response:
    return JSONResponse({"error": error.message}, error.status, error.headers)


async def _not_served(request: Request, error: Any) -> Response:
    """Answer for an unknown path, or for a method that a path does not support."""
    path, headers = body.raw_path(request), error.headers
    message = RequestError(f"Malformed request: {request.method} {path}").message
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers = {"Allow": "GET, HEAD", **(headers or {})}  # files of the page give none
        for api, start in ((tensorflow_serving, "/v1/"), (kserve, "/v2/models/")):
            if path.startswith(start):
                headers = {"Allow": api.allowed(path)}
    return JSONResponse({"error": message}, error.status_code, headers)


async def _closed(request: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED_REQUEST)


async def _failed(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": FAILED}, HTTPStatus.INTERNAL_SERVER_ERROR)
