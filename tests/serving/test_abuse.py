"""Requests that are wrong, hostile or rude: each is refused rightly, and the server goes on."""

import gzip
import json
import socket
import time
from urllib.parse import urlsplit

import grpc
import httpx2 as httpx
import pytest
from tensorflow.core.framework import tensor_pb2, types_pb2
from tensorflow_serving.apis import predict_pb2

from tests.serving import hostile
from tests.serving.hostile import INFER, MAX_BODY, MAX_CHARACTERS, MAX_ROWS, MAX_SECONDS, PREDICT


@pytest.fixture(scope="module")
def addresses(served, start_server, free_port):
    """Addresses for HTTP and for gRPC."""
    port = free_port()
    limits = {
        "max_body": MAX_BODY,
        "max_rows": MAX_ROWS,
        "max_characters": MAX_CHARACTERS,
        "max_seconds": MAX_SECONDS,
        "keep_alive": 2,
    }
    with start_server(served, grpc_port=port, **limits) as url:
        yield url, f"127.0.0.1:{port}"


@pytest.fixture(scope="module")
def url(addresses):
    return addresses[0]


@pytest.fixture(scope="module")
def client(url):
    with httpx.Client(base_url=url, timeout=30) as client:
        yield client


@pytest.fixture(autouse=True)
def goes_on(url):
    """After each test, the next request is answered."""
    yield
    response = httpx.post(url + PREDICT, json={"instances": ["still here"]})
    assert response.json() == {"predictions": ["1: still here"]}


def connect(url):
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), 30)


def exchange(url, sent):
    """Response to raw bytes; nothing if the server hangs up."""
    received = b""
    try:
        with connect(url) as connection:
            connection.sendall(sent)
            while part := connection.recv(65536):
                received = (received + part).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
                head, found, rest = received.partition(b"\r\n\r\n")
                lines = [line for line in head.lower().split(b"\r\n") if b"content-l" in line]
                if found and lines and len(rest) >= int(lines[0].split(b":")[1]):
                    break
    except (ConnectionResetError, BrokenPipeError):
        pass
    return received


def status_of(received):
    return int(received.split(b" ", 2)[1])


def test_bodies(client, faults_of):
    for path in (PREDICT, INFER, "/translate"):
        faults = faults_of(hostile.BODIES, lambda body, path=path: client.post(path, content=body))
        assert not faults, "\n".join([path, *faults])


def test_documents(client, faults_of):
    pair = {"source": "ja", "target": "en"}
    tables = {
        PREDICT: hostile.DOCUMENTS,
        INFER: hostile.KSERVE,
        "/translate": hostile.LIBRETRANSLATE,
        "/translate/stream": {
            "a list of texts": ({"q": ["犬"], **pair}, 400, "'q' must be a text"),
            "alternatives": ({"q": "犬", "alternatives": 1, **pair}, 400, "without 'alternatives'"),
            "another source": ({"q": "犬", "source": "de", "target": "en"}, 400, "not supported"),
            "half a character": ({"q": "\ud800", **pair}, 400, "surrogate"),
            "a long sentence": ({"q": "犬。" + "犬" * 501, **pair}, 413, "at most 500 characters"),
        },
        "/detect": {repr(text): ({"q": text}, 400) for text in (None, 1, {}, [], [[]], [1])},
    }
    for path, table in tables.items():

        def answer(document, path=path):
            return client.post(path, content=json.dumps(document))

        faults = faults_of(table, answer)
        assert not faults, "\n".join([path, *faults])
    for name, (document, *_) in hostile.LIBRETRANSLATE.items():
        if "list" not in name and name != "too many texts":
            refused = client.post("/translate/stream", content=json.dumps(document))
            assert refused.status_code in (400, 413), name


def test_what_is_just_within_each_limit_is_answered(client):
    longest, most = {"instances": ["犬" * MAX_CHARACTERS]}, {"instances": ["犬"] * MAX_ROWS}
    largest = json.dumps({"instances": ["犬"]}).ljust(MAX_BODY).encode()
    for body in (json.dumps(longest), json.dumps(most), largest, gzip.compress(largest)):
        encoding = {"Content-Encoding": "gzip"} if body[:2] == b"\x1f\x8b" else {}
        assert client.post(PREDICT, content=body, headers=encoding).status_code == 200


def test_encodings_and_sizes_of_a_body(client, faults_of):
    whole = gzip.compress(b'{"instances": ["a"]}')
    too_large = f"at most {MAX_BODY} bytes"
    size = "must be the size of the JSON"
    table = {
        "gzip that grows": (("gzip", gzip.compress(b" " * (MAX_BODY + 1))), 413, too_large),
        "gzip that grows before its end": (("gzip", gzip.compress(b" " * 10**8)[:900]), 413),
        "gzip that is cut off": (("gzip", whole[:-9]), 400, "cut off"),
        "no gzip": (("gzip", b"abc"), 400, "not gzip"),
        "another encoding": (("br", b"abc"), 415, "must be gzip or identity. Received: br"),
    }

    def answer(given):
        return client.post(PREDICT, content=given[1], headers={"Content-Encoding": given[0]})

    assert not (faults := faults_of(table, answer)), "\n".join(faults)
    sizes = {text: (text, 400, size) for text in ("-1", "6", "two", "9" * 5000, "")}

    def answer_binary(text):
        headers = {"Inference-Header-Content-Length": text}
        return client.post(INFER, content=b"{}abc", headers=headers)

    assert not (faults := faults_of(sizes, answer_binary)), "\n".join(faults)


def test_paths(url):
    faults = []
    body = json.dumps({"instances": ["a"]}).encode()
    for name, (method, path, status, *says) in hostile.PATHS.items():
        # By hand: a client would tidy the path.
        head = f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
        received = exchange(url, head.encode() + body)
        head, _, rest = received.partition(b"\r\n\r\n")
        error = json.loads(rest)
        is_right = status_of(received) == status and b"text/html" not in head
        if not is_right or list(error) != ["error"] or not all(s in error["error"] for s in says):
            faults.append(f"{name}: {received!r}")
    assert not faults, "\n".join(faults)


def test_raw_requests(url):
    faults = []
    for name, (sent, statuses) in hostile.RAW.items():
        received = exchange(url, sent)
        if (received or statuses) and (not received or status_of(received) not in statuses):
            faults.append(f"{name}: {received!r}")
    assert not faults, "\n".join(faults)


def test_text_is_text(client):
    texts = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "'; DROP TABLE models; --",
        "{{7*7}} ${7*7} %s %n",
        "$(reboot) `reboot`",
        "../../../etc/passwd",
        "\u202e\u2066\u0000\u001b[31m\ufeff",
        "👩‍👩‍👧" * 20,
    ]
    response = client.post(PREDICT, json={"instances": texts})
    assert response.json() == {"predictions": [f"1: {text}" for text in texts]}
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"


def test_a_body_is_waited_for_no_longer_than_the_limit_and_refused_by_its_length(url):
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\n"
    start = time.monotonic()
    received = exchange(url, f"{head}Content-Length: 100\r\n\r\n".encode() + b'{"inst')
    assert status_of(received) == 408 and b"within 2 seconds" in received
    assert MAX_SECONDS <= time.monotonic() - start < MAX_SECONDS + 20
    # An announced length and chunks without end.
    assert status_of(exchange(url, f"{head}Content-Length: {10**12}\r\n\r\n".encode())) == 413
    chunk = b"2710\r\n" + b"a" * 10_000 + b"\r\n"
    chunked = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode()
    assert status_of(exchange(url, chunked + 6 * chunk)) == 413


def test_a_head_that_comes_too_slowly_is_not_waited_for(url):
    start = time.monotonic()
    with connect(url) as connection:
        connection.settimeout(0.2)
        for _ in range(200):
            try:
                connection.sendall(b"G")
                if not connection.recv(1):
                    break
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
        else:
            raise AssertionError("The server waits and waits.")
    assert time.monotonic() - start >= 2


def test_what_is_no_http_gets_a_400_or_is_hung_up_on(url):
    for sent in (b"\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/one\r\n\r\n", b"G " * 35_000):
        with connect(url) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            try:
                received = connection.recv(65536)
            except ConnectionResetError:
                received = b""
        assert not received or status_of(received) in (400, 414), sent[:20]


def test_who_hangs_up_early_or_stays_idle_disturbs_nobody(url):
    body = json.dumps({"instances": ["a"] * 40}).encode()
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    for part in (20, 200, None):
        for _ in range(20):
            with connect(url) as connection:
                connection.sendall((head.encode() + body)[:part])
    idle = [connect(url) for _ in range(200)]
    assert httpx.post(url + PREDICT, json={"instances": ["a"]}).status_code == 200
    for connection in idle:
        connection.close()


def tensor(dtype, shape, **values):
    proto = tensor_pb2.TensorProto(dtype=dtype, **values)
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    return proto


CALLS = {
    "nonsense": ("Predict", b"nonsense", ("INTERNAL", "UNKNOWN")),
    "nothing": ("Predict", b"", ("NOT_FOUND",)),
    "a large message": ("Predict", b"\0" * (MAX_BODY + 1), ("RESOURCE_EXHAUSTED",)),
    "metadata of nothing": ("GetModelMetadata", b"", ("INVALID_ARGUMENT",)),
    "a method that is not served": ("Classify", b"", ("UNIMPLEMENTED",)),
    "a method of nobody": ("Destroy", b"", ("UNIMPLEMENTED",)),
}
TENSORS = {
    "no type and no shape": tensor_pb2.TensorProto(),
    "another type": tensor(types_pb2.DT_INT64, [1], int64_val=[1]),
    "a type of nobody": tensor(9999, [1], string_val=[b"a"]),
    "a resource": tensor(types_pb2.DT_RESOURCE, [1]),
    "a scalar": tensor(types_pb2.DT_STRING, [], string_val=[b"a"]),
    "two axes": tensor(types_pb2.DT_STRING, [1, 1], string_val=[b"a"]),
    "a size below 0": tensor(types_pb2.DT_STRING, [-1], string_val=[b"a"]),
    "a shape beyond memory": tensor(types_pb2.DT_STRING, [2**40], string_val=[b"a"]),
    "more values than the shape": tensor(types_pb2.DT_STRING, [1], string_val=[b"a", b"b"]),
    "text as bytes of memory": tensor(types_pb2.DT_STRING, [1], tensor_content=b"\0" * 8),
    "too many texts": tensor(types_pb2.DT_STRING, [MAX_ROWS + 1], string_val=[b"a"]),
    "too long a text": tensor(types_pb2.DT_STRING, [1], string_val=[b"a" * (MAX_CHARACTERS + 1)]),
}


def test_grpc_calls_and_tensors(addresses):
    calls = dict(CALLS)
    for name, proto in TENSORS.items():
        request = predict_pb2.PredictRequest()
        request.model_spec.name = "ja-en"
        request.inputs["text"].CopyFrom(proto)
        calls[name] = "Predict", request.SerializeToString(), ("INVALID_ARGUMENT",)
    faults = []
    with grpc.insecure_channel(addresses[1]) as channel:
        for name, (method, message, codes) in calls.items():
            call = channel.unary_unary(f"/tensorflow.serving.PredictionService/{method}")
            try:
                faults.append(f"{name}: {call(message, timeout=30)}")
            except grpc.RpcError as refused:
                if refused.code().name not in codes:
                    faults.append(f"{name}: {refused}")
    assert not faults, "\n".join(faults)


def test_what_is_no_grpc_is_hung_up_on(addresses):
    host, port = addresses[1].split(":")
    for sent in (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\0" * 1000, b""):
        with socket.create_connection((host, int(port)), 30) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            try:
                while connection.recv(65536):
                    pass
            except ConnectionResetError:
                pass
