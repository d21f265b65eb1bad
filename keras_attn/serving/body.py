"""Reading of request bodies with limits, and cancellation when a client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from keras_attn.serving.errors import RequestError

Answer = TypeVar("Answer")


async def read(request: Request, max_bytes: int, max_seconds: float) -> bytes:
    """Read the complete body of a request.

    Args:
        request: Request to read from.
        max_bytes: Maximum size of the body, in bytes.
        max_seconds: Maximum time to receive the body, in seconds.

    Raises:
        RequestError: If the body is too large or arrives too slowly.
        ClientDisconnect: If the client disconnects.
    """
    too_large = RequestError(
        f"The body of a request must have at most {max_bytes} bytes.",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    )
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(max_seconds):
            async for part in request.stream():
                body += part
                if len(body) > max_bytes:
                    raise too_large
    except TimeoutError as error:
        raise RequestError(
            f"The body of a request must arrive within {max_seconds:g} seconds.",
            HTTPStatus.REQUEST_TIMEOUT,
        ) from error
    return bytes(body)


async def unless_gone(request: Request, answering: Coroutine[Any, Any, Answer]) -> Answer:
    """Await an answer; cancel it if the client disconnects.

    Raises:
        ClientDisconnect: If the client disconnects.
    """
    answer = asyncio.create_task(answering)
    # The body has been read, so the next message that ASGI delivers is `http.disconnect`.
    gone = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        raise ClientDisconnect
    finally:
        answer.cancel()
        gone.cancel()
