"""The bytes of a connection: what clients that others wrote do, beside plain requests."""

import json
import socket
from urllib.parse import urlsplit

import pytest

PREDICT = "/v1/models/ja-en:predict"
BODY = json.dumps({"instances": ["犬"]}).encode()
# As Java's HttpClient and `curl --http2` offer it.
OFFER = (
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"
)


def post(headers=""):
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(BODY)}\r\n{headers}\r\n"
    return head.encode() + BODY


def connect(url):
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), 30)


def answer(connection):
    """Status and body of the next response."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    (length,) = (
        int(line.split(b":")[1])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length")
    )
    while len(body) < length:
        body += connection.recv(65536)
    return int(head.split(b" ", 2)[1]), json.loads(body)


@pytest.mark.parametrize("is_in_pieces", [False, True])
def test_an_offer_of_http_2_is_ignored_and_the_request_is_answered(server, is_in_pieces):
    request = post(OFFER)
    with connect(server) as connection:
        for _ in range(2):  # the connection stays open for the next request
            at = request.index(b"\r\n\r\n") + (10 if is_in_pieces else len(request))
            connection.sendall(request[:at])
            connection.sendall(request[at:])
            assert answer(connection) == (200, {"predictions": ["1: 犬"]})


def test_a_client_that_closes_its_side_after_the_request_is_answered(server):
    with connect(server) as connection:
        connection.sendall(post())
        connection.shutdown(socket.SHUT_WR)
        assert answer(connection) == (200, {"predictions": ["1: 犬"]})
        assert connection.recv(1) == b""  # then the server closes too


def test_a_client_that_closes_its_side_within_the_request_is_hung_up_on(server):
    with connect(server) as connection:
        connection.sendall(post()[:-3])
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(65536)[:12] in (b"", b"HTTP/1.1 400")
