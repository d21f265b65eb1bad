"""Counts and logs every request around an application, and marks every answer as what it is."""

from __future__ import annotations

import logging
import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keras_attn.serving.metrics import Metrics

_log = logging.getLogger(__name__)
_KINDS = ("/v1/", "/page/", "/healthz", "/metrics")


class Observed:
    """An application whose requests are counted and logged; what they say is not.

    Args:
        app: The application.
        metrics: Where to count.
    """

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
                MutableHeaders(scope=message)["X-Content-Type-Options"] = "nosniff"
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        except Exception:
            # The answer has been sent; here is why it says that the server failed.
            _log.exception("failed", extra={"path": scope["path"]})
        finally:
            seconds = time.perf_counter() - start
            self._metrics.answered(_kind(scope), status, seconds)
            _log.info(
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


def _kind(scope: Scope) -> str:
    """What a request is counted as: few names, whatever paths are asked for."""
    path = scope["path"]
    if path == "/":
        return "/"
    return next((kind for kind in _KINDS if path.startswith(kind)), "other")
