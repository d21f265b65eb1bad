"""Request bodies, plain or gzip, with limits, and cancellation when a client disconnects."""

import asyncio
import zlib
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from keras_attn.serving.errors import RequestError

Answer = TypeVar("Answer")
_GZIP = ("gzip", "x-gzip")


async def read(request: Request, max_bytes: int, max_seconds: float) -> bytes:
    """Read the complete body of a request, and decompress it if it is gzip.

    Args:
        request: Request to read from.
        max_bytes: Maximum size of the body, before and after decompression, in bytes.
        max_seconds: Maximum time to receive the body, in seconds.

    Raises:
        RequestError: If the body is too large, arrives too slowly, or has another encoding.
        ClientDisconnect: If the client disconnects.
    """
    too_large = RequestError(
        f"The body of a request must have at most {max_bytes} bytes.",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    )
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", *_GZIP):
        raise RequestError(
            f"The Content-Encoding of a request must be gzip or identity. Received: {encoding}.",
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
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
    if encoding in _GZIP:
        body = _decompressed(body, max_bytes)
        if len(body) > max_bytes:
            raise too_large
    return bytes(body)


def _decompressed(body: bytearray, max_bytes: int) -> bytearray:
    """Content of gzip data, at most one byte more than `max_bytes`."""
    content = bytearray()
    try:
        while body and len(content) <= max_bytes:
            member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            content += member.decompress(body, max_bytes + 1 - len(content))
            if not member.eof and len(content) <= max_bytes:
                raise RequestError("The gzip data in the body of the request is cut off.")
            body = bytearray(member.unused_data)
    except zlib.error as error:
        raise RequestError("The body of the request is not gzip data.") from error
    return content


async def cancel_on_disconnect(request: Request, answering: Coroutine[Any, Any, Answer]) -> Answer:
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
