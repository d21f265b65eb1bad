"""The bytes of a connection: what clients that others wrote do, beside plain requests."""

import json
import socket
import struct
from urllib.parse import urlsplit

import httpx2 as httpx

BODY = json.dumps({"instances": ["犬"]}).encode()
# As Java's HttpClient and `curl --http2` offer it.
OFFER = (
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"
)


def post(headers=""):
    path = "/v1/models/ja-en:predict"
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(BODY)}\r\n{headers}\r\n"
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


def test_an_offer_of_http_2_is_ignored_and_the_request_is_answered(server):
    request = post(OFFER)
    for at in (len(request), request.index(b"\r\n\r\n") + 10):  # whole, and in two pieces
        with connect(server) as connection:
            for _ in range(2):  # the connection stays open for the next request
                connection.sendall(request[:at])
                connection.sendall(request[at:])
                assert answer(connection) == (200, {"predictions": ["1: 犬"]})


def test_a_client_that_closes_its_side_is_answered_if_its_request_is_whole(server):
    with connect(server) as connection:
        connection.sendall(post())
        connection.shutdown(socket.SHUT_WR)
        assert answer(connection) == (200, {"predictions": ["1: 犬"]})
        assert connection.recv(1) == b""  # then the server closes too
    with connect(server) as connection:
        connection.sendall(post()[:-3])
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(65536)[:12] in (b"", b"HTTP/1.1 400")


def test_the_text_of_a_client_that_hangs_up_is_not_computed(served, start_server, wait_until):
    # It waits for company that never comes.
    with start_server(served, batch_wait=60.0) as url:

        def waiting(number):
            return f"keras_attn_queue_rows {number}.0" in httpx.get(f"{url}/metrics").text

        with connect(url) as connection:
            connection.sendall(post())
            wait_until(lambda: waiting(1))
            # Closing sends a reset, not only the end of what is sent.
            reset = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        wait_until(lambda: waiting(0))
        assert "keras_attn_batch_rows_count 0.0" in httpx.get(f"{url}/metrics").text
