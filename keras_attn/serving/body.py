"""Paths and bodies of requests, plain or gzip, and cancellation when a client disconnects."""

import asyncio
import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from keras_attn.serving.errors import RequestError
from keras_attn.serving.settings import Settings
from keras_attn.serving.tensors import shown

Answer = TypeVar("Answer")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_GZIP = ("gzip", "x-gzip")
# Bytes that are read or written at once on the event loop.
_FEW_BYTES = 2**14
# Many, so that small work does not wait for large work.
_threads = ThreadPoolExecutor(16, thread_name_prefix="body")


def raw_path(request: Request) -> str:
    """Percent-encoded path, without that of the proxy before the server."""
    path = request.scope["raw_path"].decode("latin-1")
    return path.removeprefix(request.scope.get("root_path", ""))


def client(request: Request) -> str:
    """Address of the client that sent a request."""
    return request.client.host if request.client else ""


async def read(request: Request, limits: Settings) -> bytes:
    """Read the complete body of a request, and decompress it if it is gzip.

    Its size is limited before and after decompression.
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", *_GZIP):
        raise RequestError(
            f"The Content-Encoding of a request must be gzip or identity. Received: {encoding}.",
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        )
    announced = request.headers.get("content-length", "")
    _check_size(int(announced) if announced.isdecimal() else 0, limits)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.max_seconds):
            async for part in request.stream():
                body += part
                _check_size(len(body), limits)
    except TimeoutError as error:
        raise RequestError(
            f"The body of a request must arrive within {limits.max_seconds:g} seconds.",
            HTTPStatus.REQUEST_TIMEOUT,
        ) from error
    if encoding in _GZIP:
        body = await off_loop(len(body), _decompressed, body, limits.max_body)
        _check_size(len(body), limits)
    return bytes(body)


def _check_size(num_bytes: int, limits: Settings) -> None:
    if num_bytes > limits.max_body:
        raise RequestError(
            f"The body of a request must have at most {limits.max_body} bytes.",
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        )


def _decompressed(body: bytearray, max_bytes: int) -> bytearray:
    """Content of gzip data, at most one byte more than `max_bytes`."""
    try:
        return bytearray(gzip.GzipFile(fileobj=io.BytesIO(body)).read(max_bytes + 1))
    except EOFError as error:
        raise RequestError("The gzip data in the body of the request is cut off.") from error
    except (OSError, zlib.error) as error:
        raise RequestError("The body of the request is not gzip data.") from error


async def cancel_on_disconnect(request: Request, answering: Awaitable[Answer]) -> Answer:
    """Await an answer; if the client disconnects, cancel it and raise `ClientDisconnect`."""
    task: Any = asyncio.current_task()

    async def watch() -> None:
        # The body has been read, so the next message that ASGI delivers is `http.disconnect`.
        await request.receive()
        task.cancel()

    watching = asyncio.create_task(watch())
    try:
        return await answering
    except asyncio.CancelledError:
        if not watching.done():
            raise
        task.uncancel()
        raise ClientDisconnect from None
    finally:
        watching.cancel()


async def off_loop(num_bytes: int, function: Callable[..., Answer], *arguments: Any) -> Answer:
    """Call a function that reads or writes `num_bytes` bytes; in a thread if they are many.

    The event loop serves other clients meanwhile.
    """
    if num_bytes <= _FEW_BYTES:
        return function(*arguments)
    return await asyncio.get_running_loop().run_in_executor(_threads, function, *arguments)


def parse_json(content: bytes) -> dict[str, Any]:
    """Parse the body of a request, a JSON object."""
    content = content.removeprefix(codecs.BOM_UTF8)  # some editors and clients write one
    if not content.strip():
        raise RequestError("JSON Parse error: The document is empty")
    try:
        document = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RequestError(
            f"JSON Parse error: Invalid encoding in string. at offset: {error.start}"
        ) from error
    except json.JSONDecodeError as error:
        raise RequestError(
            f"JSON Parse error: Invalid value. {error.msg} at offset: {error.pos}"
        ) from error
    except (RecursionError, ValueError) as error:  # deep nesting, or an integer of > 4300 digits
        raise RequestError("JSON Parse error: Nested too deeply, or a number too long.") from error
    if not isinstance(document, dict):
        raise RequestError(f"JSON Value: {shown(document)} Is not object")
    if _SURROGATE.search(content):
        try:  # no response could repeat half of a pair, also where it is a name
            json.dumps(document, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise RequestError(
                "JSON Parse error: The surrogate pair in string is invalid."
            ) from error
    return document
