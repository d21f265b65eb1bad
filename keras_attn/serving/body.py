"""The body of a request, and whether anybody still waits for its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from keras_attn.serving.errors import RequestError

Answer = TypeVar("Answer")


async def read(request: Request, max_bytes: int, max_seconds: float) -> bytes:
    """The whole body of a request.

    Raises:
        RequestError: If it is too large, or too slow in coming.
        ClientDisconnect: If its sender has gone.
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
    """The answer, which is not waited for when the caller of the request has gone.

    Raises:
        ClientDisconnect: If the caller has.
    """
    answer = asyncio.create_task(answering)
    # After the body, the next that is received says that the connection has ended.
    gone = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        raise ClientDisconnect
    finally:
        answer.cancel()
        gone.cancel()
