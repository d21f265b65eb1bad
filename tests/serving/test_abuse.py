"""Requests that are wrong, hostile or rude: each is refused rightly, and the server goes on."""

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
def addresses(write_echo, tmp_path_factory, start_server):
    """Addresses for HTTP and for gRPC."""
    folder = tmp_path_factory.mktemp("abused") / "ja-en"
    write_echo(folder, 1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    limits = {
        "--max-body": MAX_BODY,
        "--max-rows": MAX_ROWS,
        "--max-characters": MAX_CHARACTERS,
        "--max-seconds": MAX_SECONDS,
        "--keep-alive": 2,
        "--grpc-port": port,
    }
    options = (str(part) for limit in limits.items() for part in limit)
    with start_server(folder, *options) as (_, url):
        yield url, f"127.0.0.1:{port}"


@pytest.fixture(scope="module")
def url(addresses):
    return addresses[0]


@pytest.fixture(scope="module")
def client(url):
    with httpx.Client(base_url=url, timeout=30) as client:
        yield client


@pytest.fixture(autouse=True)
def goes_on(url, client):
    """After each of them, the next request is answered."""
    yield
    response = client.post(PREDICT, json={"instances": ["still here"]})
    assert response.json() == {"predictions": ["1: still here"]}


def exchange(url, sent, seconds=10):
    """Response to raw bytes."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), seconds) as connection:
        connection.sendall(sent)
        received = b""
        while part := connection.recv(65536):
            received = (received + part).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
            head, found, rest = received.partition(b"\r\n\r\n")
            length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-l")]
            if found and length and len(rest) >= int(length[0].split(b":")[1]):
                break
    return received


def status_of(received):
    return int(received.split(b" ", 2)[1])


@pytest.mark.parametrize("name", hostile.BODIES)
@pytest.mark.parametrize("path", [PREDICT, INFER, "/translate"])
def test_bodies(client, path, name):
    body, status = hostile.BODIES[name]
    response = client.post(path, content=body)
    assert response.status_code == status
    assert response.json().keys() == {"error"}


@pytest.mark.parametrize(
    ("path", "table"),
    [
        (PREDICT, hostile.DOCUMENTS),
        (INFER, hostile.KSERVE),
        ("/translate", hostile.LIBRETRANSLATE),
    ],
)
def test_documents(client, path, table):
    wrong = []
    for name, (document, status) in table.items():
        response = client.post(path, content=json.dumps(document))
        if response.status_code != status or response.json().keys() != {"error"}:
            wrong.append((name, response.status_code, response.text))
    assert wrong == []


def test_documents_for_a_stream_and_for_the_language(client):
    streamed = {
        **hostile.LIBRETRANSLATE,
        "a list of texts": ({"q": ["a"], "source": "ja", "target": "en"}, 400),
        "scores": ({"q": "a", "scores": 1, "source": "ja", "target": "en"}, 400),
    }
    for name, (document, _) in streamed.items():
        response = client.post("/translate/stream", content=json.dumps(document))
        assert response.status_code in (400, 413), name
    for text in (None, 1, {}, [], [[]], [1]):
        assert client.post("/detect", json={"q": text}).status_code == 400


@pytest.mark.parametrize("name", hostile.PATHS)
def test_paths(url, name):
    method, path, status = hostile.PATHS[name]
    body = json.dumps({"instances": ["a"]}).encode()
    # By hand: a client would tidy the path.
    head = f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    received = exchange(url, head.encode() + body)
    assert status_of(received) == status
    head, _, rest = received.partition(b"\r\n\r\n")
    assert json.loads(rest).keys() == {"error"}
    assert b"text/html" not in head


@pytest.mark.parametrize("name", hostile.RAW)
def test_raw_requests(url, name):
    sent, statuses = hostile.RAW[name]
    try:
        received = exchange(url, sent)
    except (ConnectionResetError, BrokenPipeError):
        received = b""
    if received or statuses:
        assert status_of(received) in statuses, received


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "'; DROP TABLE models; --",
        "{{7*7}} ${7*7} %s %n",
        "$(reboot) `reboot`",
        "../../../etc/passwd",
        "\u202e\u2066\u0000\u001b[31m\ufeff",
        "👩‍👩‍👧" * 20,
    ],
)
def test_text_is_text(url, text):
    response = httpx.post(url + PREDICT, json={"instances": [text]})
    assert response.json() == {"predictions": [f"1: {text}"]}
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"


def test_a_body_that_does_not_come_is_not_waited_for(url):
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n".encode()
    start = time.monotonic()
    received = exchange(url, head + b'{"inst')
    assert status_of(received) == 408
    assert MAX_SECONDS <= time.monotonic() - start < MAX_SECONDS + 5


def test_a_body_is_refused_by_its_announced_length_before_it_comes(url):
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\nContent-Length: {10**12}\r\n\r\n".encode()
    assert status_of(exchange(url, head)) == 413


def test_a_body_in_chunks_without_end_is_refused(url):
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    chunk = b"2710\r\n" + b"a" * 10_000 + b"\r\n"
    assert status_of(exchange(url, head + 6 * chunk)) == 413


@pytest.mark.parametrize(
    "sent",
    [b"\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/one\r\n\r\n", b"GET " + b"a" * 70_000],
    ids=["nothing", "TLS", "a version of HTTP", "an endless line"],
)
def test_what_is_no_http_gets_a_400_or_is_hung_up_on(url, sent):
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), 10) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        try:
            received = connection.recv(65536)
        except ConnectionResetError:
            received = b""
    assert not received or status_of(received) in (400, 414)


@pytest.mark.parametrize("part", [20, 200, None])
def test_who_hangs_up_early_disturbs_nobody(url, part):
    body = json.dumps({"instances": ["a"] * 40}).encode()
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    address = urlsplit(url)
    for _ in range(20):
        with socket.create_connection((address.hostname, address.port)) as connection:
            connection.sendall((head.encode() + body)[:part])


def test_a_head_that_comes_too_slowly_is_not_waited_for(url):
    address = urlsplit(url)
    start = time.monotonic()
    with socket.create_connection((address.hostname, address.port), 30) as connection:
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(100):
                connection.sendall(b"GET / HTTP/1.1\r\na: b\r\n"[:1])
                time.sleep(0.2)
    assert 2 <= time.monotonic() - start < 15


GRPC_CALLS = {
    "nonsense": ("Predict", b"nonsense", ("INTERNAL", "UNKNOWN")),
    "nothing": ("Predict", b"", ("NOT_FOUND",)),
    "a large message": ("Predict", b"\0" * (MAX_BODY + 1), ("RESOURCE_EXHAUSTED",)),
    "metadata of nothing": ("GetModelMetadata", b"", ("INVALID_ARGUMENT",)),
    "a method that is not served": ("Classify", b"", ("UNIMPLEMENTED",)),
    "a method of nobody": ("Destroy", b"", ("UNIMPLEMENTED",)),
}


@pytest.mark.parametrize("name", GRPC_CALLS)
def test_grpc_calls(addresses, name):
    method, message, codes = GRPC_CALLS[name]
    with grpc.insecure_channel(addresses[1]) as channel:
        call = channel.unary_unary(f"/tensorflow.serving.PredictionService/{method}")
        with pytest.raises(grpc.RpcError) as refused:
            call(message, timeout=10)
    assert refused.value.code().name in codes


def tensor(dtype, shape, **values):
    proto = tensor_pb2.TensorProto(dtype=dtype, **values)
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    return proto


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


@pytest.mark.parametrize("name", TENSORS)
def test_tensors(addresses, name):
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "ja-en"
    request.inputs["text"].CopyFrom(TENSORS[name])
    with grpc.insecure_channel(addresses[1]) as channel:
        call = channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
        with pytest.raises(grpc.RpcError) as refused:
            call(request.SerializeToString(), timeout=10)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\0" * 1000, b""])
def test_what_is_no_grpc_is_hung_up_on(addresses, sent):
    host, port = addresses[1].split(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        try:
            while connection.recv(65536):
                pass
        except ConnectionResetError:
            pass


def test_many_idle_connections_keep_nobody_out(url):
    address = urlsplit(url)
    idle = [socket.create_connection((address.hostname, address.port)) for _ in range(200)]
    response = httpx.post(url + PREDICT, json={"instances": ["a"]})
    assert response.status_code == 200
    for connection in idle:
        connection.close()
