"""ASGI application: three REST APIs for one model, web page, health, metrics.

The APIs are those of TensorFlow Serving (`paths`, `protocol`), KServe (`kserve`) and LibreTranslate
(`libretranslate`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import numpy as np
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from keras_attn.serving import body, documents, glossary, kserve, libretranslate, paths, protocol
from keras_attn.serving.batching import RETRY_AFTER, Batcher, Tensors
from keras_attn.serving.errors import CLIENT_CLOSED_REQUEST, RequestError
from keras_attn.serving.metrics import Metrics
from keras_attn.serving.observed import Observed
from keras_attn.serving.prediction_service import PredictionService, served
from keras_attn.serving.servable import Servable
from keras_attn.serving.settings import Settings
from keras_attn.serving.versions import Versions
from keras_attn.translation.config import Config

PAGE = Path(__file__).parent / "page"
# Browsers must revalidate the files of the page, so that they never mix files of two releases.
REVALIDATED = {"Cache-Control": "no-cache"}
# The page loads nothing from other origins and must not be embedded in other pages.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    **REVALIDATED,
}


class Server:
    """Server of one model.

    Args:
        folder: Folder of all versions of the model. The name of the folder is the model name.
        settings: Settings of the server.

    Attributes:
        versions: Versions of the model.
    """

    def __init__(self, folder: Path, settings: Settings):
        self._settings = settings
        self.versions = Versions(folder, settings.poll_seconds)
        self._metrics = Metrics()
        self._batcher = Batcher(settings, self._metrics.batch_rows.observe)

    def app(self) -> Observed:
        """ASGI application."""
        routes = [
            Route("/", self._page),
            Route("/page/settings.json", self._page_settings),
            Mount("/page", _PageFiles(directory=PAGE)),
            Route("/healthz", self._health),
            Route("/livez", self._live),
            Route("/metrics", self._show_metrics),
            Route("/v1/{rest:path}", self._api, methods=["GET", "POST", "OPTIONS"]),
            Route("/v2", self._kserve_server),
            Route("/v2/health/live", self._live),
            Route("/v2/health/ready", self._health),
            Route("/v2/models/{rest:path}", self._kserve, methods=["GET", "POST"]),
            Route("/translate", self._translate, methods=["POST"]),
            Route("/detect", self._detect, methods=["POST"]),
            Route("/languages", self._languages),
            Route("/health", self._live),
        ]
        origins = self._settings.cors_origins
        cross_origin = Middleware(
            CORSMiddleware, allow_origins=origins, allow_methods=["*"], allow_headers=["*"]
        )
        app = Starlette(
            routes=routes,
            middleware=[cross_origin] if origins else [],
            lifespan=self._lifespan,
            exception_handlers={
                RequestError: _refused,
                HTTPException: _not_served,
                ClientDisconnect: _closed,
                Exception: _failed,
            },
        )
        return Observed(app, self._metrics)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(self.versions.watch())
        service = PredictionService(self, self._settings, self._metrics)
        listening = served(service, self._settings) if self._settings.grpc_port else nullcontext()
        async with listening:
            yield
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        self._batcher.close()

    async def _api(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            methods = paths.allowed(_raw_path(request))
            return Response(status_code=HTTPStatus.NO_CONTENT, headers={"Allow": methods})
        return await (self._post if request.method == "POST" else self._get)(request)

    async def _get(self, request: Request) -> Response:
        target = self._target(request)
        if target.verb == "status":
            return JSONResponse(documents.status(self.versions.statuses(target.version)))
        with self.versions.use(target.version) as servable:
            name = self.versions.name
            return JSONResponse(await asyncio.to_thread(documents.metadata, name, servable))

    async def _post(self, request: Request) -> Response:
        arrived = time.monotonic()
        target = self._target(request)
        limits = self._settings
        content = await body.read(request, limits.max_body, limits.max_seconds)
        with self.versions.use(target.version) as servable:
            if target.verb != "predict":
                raise RequestError(
                    f"Expected {_METHODS[target.verb]} signature method_name to be "
                    f"tensorflow/serving/{target.verb}. Was: tensorflow/serving/predict"
                )
            document = protocol.read(content)
            name, question = _question(document, servable)
            outputs = await self._ask(request, servable, name, question.inputs, arrived)
        answer = await asyncio.to_thread(protocol.answer, outputs, question.form)
        return Response(answer, media_type="application/json")

    def _target(self, request: Request) -> paths.Target:
        return paths.parse(request.method, _raw_path(request), self.versions.name)

    async def _kserve(self, request: Request) -> Response:
        """Open Inference Protocol."""
        arrived = time.monotonic()
        name = self.versions.name
        target = kserve.parse(request.method, _raw_path(request), name)
        if target.verb == "infer":
            limits = self._settings
            kserve.check_headers(request.headers)
            document = protocol.read(await body.read(request, limits.max_body, limits.max_seconds))
            with self.versions.use(target.version) as servable:
                signature, inputs = kserve.question(document, servable)
                outputs = await self._ask(request, servable, signature, inputs, arrived)
                answer = kserve.answer(document, outputs, name, servable)
            return Response(protocol.as_json(answer), media_type="application/json")
        if target.verb == "ready" and target.version is None:
            return await self._health(request)
        with self.versions.use(target.version) as servable:
            if target.verb == "ready":
                return JSONResponse({"status": "ok", "version": servable.version})
            return JSONResponse(kserve.metadata(name, servable))

    async def _kserve_server(self, request: Request) -> Response:
        return JSONResponse(kserve.SERVER)

    async def _translate(self, request: Request) -> Response:
        """LibreTranslate: translation."""
        arrived = time.monotonic()
        document = await self._members(request)
        with self.versions.use(None) as servable:
            config = _translator_config(servable)
            asked = libretranslate.question(document, config)
            outputs = await self._ask(request, servable, asked.signature, asked.inputs, arrived)
            return JSONResponse(libretranslate.answer(asked, outputs, config))

    async def _detect(self, request: Request) -> Response:
        """LibreTranslate: languages of a text."""
        document = await self._members(request)
        with self.versions.use(None) as servable:
            return JSONResponse(libretranslate.detect(document, _translator_config(servable)))

    async def _languages(self, request: Request) -> Response:
        """LibreTranslate: languages of the translator."""
        with self.versions.use(None) as servable:
            return JSONResponse(libretranslate.languages(_translator_config(servable)))

    async def _members(self, request: Request) -> Mapping[str, Any]:
        """Members of the body of a request, an HTML form or JSON."""
        content = await body.read(request, self._settings.max_body, self._settings.max_seconds)
        is_form = "urlencoded" in request.headers.get("content-type", "")
        return libretranslate.form(content) if is_form else protocol.read(content)

    async def _ask(
        self,
        request: Request,
        servable: Servable,
        name: str,
        inputs: Tensors,
        arrived: float,
    ) -> Tensors:
        """Outputs of a signature, unless the client leaves or it takes too long."""
        request.state.rows = servable.signature(name).num_rows(inputs)
        asking = self.compute(servable, name, inputs)
        seconds = self._settings.max_seconds - (time.monotonic() - arrived)
        return await self._answer(request, asking, seconds)

    async def compute(self, servable: Servable, name: str, inputs: Tensors) -> Tensors:
        """Compute the outputs of a signature.

        Args:
            servable: Version of the model.
            name: Name of the signature.
            inputs: Inputs of the signature, by name.

        Raises:
            RequestError: If the inputs exceed a limit, the queue is full, or the model refuses the
                inputs.
        """
        if name == glossary.SIGNATURE:
            glossary.check(inputs, self._settings)
        num_rows = servable.signature(name).num_rows(inputs)
        self._check_limits(inputs, num_rows)
        return await self._batcher.ask(servable, name, inputs, num_rows)

    async def _answer(
        self, request: Request, asking: Coroutine[Any, Any, Tensors], seconds: float
    ) -> Tensors:
        try:
            async with asyncio.timeout(seconds):
                return await body.unless_gone(request, asking)
        except TimeoutError as error:
            raise RequestError(
                f"The answer took longer than {self._settings.max_seconds:g} seconds.",
                HTTPStatus.GATEWAY_TIMEOUT,
            ) from error

    def _check_limits(self, inputs: Mapping[str, np.ndarray], num_rows: int) -> None:
        limits = self._settings
        if num_rows > limits.max_rows:
            raise RequestError(
                f"A request must have at most {limits.max_rows} texts. Received: {num_rows}.",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
        for array in inputs.values():
            texts = array.ravel() if array.dtype == object else ()
            longest = max((len(text.decode("utf-8", "replace")) for text in texts), default=0)
            if longest > limits.max_characters:
                raise RequestError(
                    f"A text must have at most {limits.max_characters} characters. "
                    f"Received: {longest}.",
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                )

    async def _page(self, request: Request) -> Response:
        return FileResponse(PAGE / "index.html", headers=PAGE_HEADERS)

    async def _page_settings(self, request: Request) -> Response:
        if self.versions.current is None:
            raise RequestError(
                "The model is being loaded.", HTTPStatus.SERVICE_UNAVAILABLE, RETRY_AFTER
            )
        with self.versions.use(None) as servable:
            config = _translator_config(servable)
            return JSONResponse(
                {
                    "name": self.versions.name,
                    "version": servable.version,
                    "source": config.source,
                    "target": config.target,
                    "max_characters": self._settings.max_characters,
                    "max_pieces": config.max_pieces,
                    "examples": servable.examples,
                }
            )

    async def _health(self, request: Request) -> Response:
        current = self.versions.current
        if current is None or not self.versions.is_warm:
            state = "warming up" if current else "loading"
            return JSONResponse({"status": state}, HTTPStatus.SERVICE_UNAVAILABLE)
        return JSONResponse({"status": "ok", "version": current.version})

    async def _live(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _show_metrics(self, request: Request) -> Response:
        current = self.versions.current
        self._metrics.version.set(current.version if current else 0)
        self._metrics.queue_rows.set(self._batcher.num_rows)
        return Response(self._metrics.page(), headers={"Content-Type": CONTENT_TYPE_LATEST})


class _PageFiles(StaticFiles):
    def file_response(self, *args: Any, **options: Any) -> Response:
        response = super().file_response(*args, **options)
        response.headers.update(REVALIDATED)
        return response


def _raw_path(request: Request) -> str:
    """Percent-encoded path, without that of the proxy before the server."""
    path = request.scope["raw_path"].decode("latin-1")
    return path.removeprefix(request.scope.get("root_path", ""))


def _translator_config(servable: Servable) -> Config:
    """Configuration of a translator.

    Raises:
        RequestError: If the model is another SavedModel.
    """
    if servable.config is None:
        raise RequestError(
            "This path is for translators that `train.py` exported; this model is none.",
            HTTPStatus.NOT_FOUND,
        )
    return servable.config


_METHODS = {"classify": "classification", "regress": "regression"}


def _question(document: Mapping[str, Any], servable: Servable) -> tuple[str, protocol.Question]:
    """Name of the signature that a request uses, and its inputs."""
    terms = glossary.from_member(document)
    if not terms:
        name = protocol.signature_name(document)
        return name, protocol.question(document, servable.signature(name).inputs)
    specs = glossary.signature(servable).inputs
    others = {name: spec for name, spec in specs.items() if name not in terms}
    question = protocol.question(document, others)
    return glossary.SIGNATURE, question._replace(inputs={**question.inputs, **terms})


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
