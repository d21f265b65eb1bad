"""ASGI middleware: metrics, log line and `X-Content-Type-Options` header for each request."""

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keras_attn.serving.metrics import Metrics

_log = logging.getLogger(__name__)
_NO_SNIFFING = (b"x-content-type-options", b"nosniff")
_KINDS = ("/v1/", "/v2/", "/translate", "/page/", "/healthz", "/livez", "/metrics")
_PROBES = ("/healthz", "/livez", "/health", "/metrics", "/v2/health/live", "/v2/health/ready")


class AccessLog:
    """ASGI application that counts and logs the requests of another; bodies are not logged."""

    def __init__(self, app: ASGIApp, metrics: Metrics):
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 500
        scope.setdefault("state", {})

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], _NO_SNIFFING]
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        except Exception:
            # The client has already received status 500. Log the reason.
            _log.exception("failed", extra={"path": scope["path"]})
        finally:
            seconds = time.perf_counter() - start
            path = scope["path"].removeprefix(scope.get("root_path", ""))  # that of a proxy
            self._metrics.answered(_kind(path), status, seconds)
            _log.log(
                logging.DEBUG if _is_probe(path) and status != 500 else logging.INFO,
                "request",
                extra={
                    "method": scope["method"],
                    "path": scope["path"],
                    "status": status,
                    "milliseconds": round(1000 * seconds, 1),
                    "rows": scope["state"].get("rows"),
                    "client": (scope.get("client") or ["?"])[0],
                },
            )


def _kind(path: str) -> str:
    """Kind of a request, as a metric label: one of a few names for any path."""
    return "/" if path == "/" else next(filter(path.startswith, _KINDS), "other")


def _is_probe(path: str) -> bool:
    """Whether the system that runs the server sends the request, every few seconds."""
    return path in _PROBES or (path.startswith("/v2/models/") and path.endswith("/ready"))
