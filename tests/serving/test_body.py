import asyncio
import gzip

import pytest
from starlette.requests import ClientDisconnect, Request

from keras_attn.serving.body import read, unless_gone
from keras_attn.serving.errors import RequestError


def request_of(*messages, then=None, headers=()):
    """A request whose connection says these things, then nothing more, or `then` after a while."""
    left = list(messages)

    async def receive():
        if left:
            return left.pop(0)
        if then is None:
            await asyncio.Event().wait()
        await asyncio.sleep(0.05)
        return then

    return Request({"type": "http", "method": "POST", "headers": list(headers)}, receive)


def part(body, more=False):
    return {"type": "http.request", "body": body, "more_body": more}


def test_parts_are_joined():
    request = request_of(part(b"a", True), part(b"", True), part(b"bc"))
    assert asyncio.run(read(request, 3, 1.0)) == b"abc"


def test_a_body_may_have_as_many_bytes_as_are_allowed_and_no_more():
    with pytest.raises(RequestError, match="at most 2 bytes") as caught:
        asyncio.run(read(request_of(part(b"ab", True), part(b"c")), 2, 1.0))
    assert caught.value.status == 413


def test_what_is_announced_too_large_is_not_waited_for():
    request = request_of(headers=[(b"content-length", b"3")])
    with pytest.raises(RequestError, match="at most 2 bytes"):
        asyncio.run(read(request, 2, 60.0))


@pytest.mark.parametrize("name", ["gzip", "GZIP", "x-gzip"])
def test_gzip_is_decompressed(name):
    packed = gzip.compress(b"abc") + gzip.compress(b"d" * 97)  # two members are one content
    headers = [(b"content-encoding", name.encode())]
    request = request_of(part(packed[:7], True), part(packed[7:]), headers=headers)
    assert asyncio.run(read(request, 100, 1)) == b"abc" + b"d" * 97


@pytest.mark.parametrize(
    ("name", "body", "status", "says"),
    [
        ("gzip", gzip.compress(b"a" * 101), 413, "at most 100 bytes"),
        ("gzip", gzip.compress(b"a" * 10**8)[:90], 413, "at most 100 bytes"),
        ("gzip", gzip.compress(b"abc")[:-9], 400, "cut off"),
        ("gzip", b"abc", 400, "not gzip"),
        ("br", b"abc", 415, "must be gzip or identity. Received: br"),
    ],
    # Names made of the bytes would differ between workers: gzip writes the time into its header.
    ids=["too large", "too large before its end", "cut off", "not gzip", "brotli"],
)
def test_what_cannot_be_decompressed_within_the_limit_is_refused(name, body, status, says):
    request = request_of(part(body), headers=[(b"content-encoding", name.encode())])
    with pytest.raises(RequestError, match=says) as refused:
        asyncio.run(read(request, 100, 1))
    assert refused.value.status == status


def test_a_slow_body_is_refused():
    with pytest.raises(RequestError, match=r"within 0\.1 seconds") as caught:
        asyncio.run(read(request_of(part(b"a", True)), 10, 0.1))
    assert caught.value.status == 408


def test_the_answer_is_given_while_its_caller_is_there():
    async def answer():
        return 42

    assert asyncio.run(unless_gone(request_of(), answer())) == 42


def test_an_error_of_the_answer_is_passed_on():
    async def fail():
        raise RequestError("no")

    with pytest.raises(RequestError, match="no"):
        asyncio.run(unless_gone(request_of(), fail()))


def test_what_nobody_waits_for_is_cancelled():
    cancelled = []

    async def answer():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def scenario():
        with pytest.raises(ClientDisconnect):
            await unless_gone(request_of(then={"type": "http.disconnect"}), answer())
        await asyncio.sleep(0)

    asyncio.run(scenario())
    assert cancelled == [True]
