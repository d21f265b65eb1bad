"""Requests that are wrong, hostile or rude: each is refused rightly, and the server goes on."""

import gzip
import json
import socket
import time
from contextlib import suppress
from types import SimpleNamespace

import grpc
import httpx2 as httpx
import pytest
from tensorflow.core.framework import tensor_pb2, types_pb2
from tensorflow_serving.apis import predict_pb2

from tests.serving import hostile
from tests.serving.hostile import MAX_BODY, MAX_SECONDS, PREDICT, connect, exchange, faults_of


@pytest.fixture(scope="module")
def addresses(served, start_server, free_port):
    """Address for HTTP and port for gRPC."""
    port = free_port()
    seconds = {"max_seconds": MAX_SECONDS, "keep_alive": 2}
    with start_server(served, grpc_port=port, **hostile.LIMITS, **seconds) as url:
        yield url, port


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


def test_bodies_and_documents(client):
    of_stream = [(400, "", *rest) for status, _, *rest in hostile.LIBRETRANSLATE if status == 400]
    tables = [(path, hostile.BODIES) for path in (PREDICT, hostile.INFER, "/translate")]
    tables += [
        (PREDICT, hostile.DOCUMENTS),
        (hostile.INFER, hostile.KSERVE),
        ("/translate", hostile.LIBRETRANSLATE),
        ("/translate/stream", hostile.STREAM + of_stream),
        ("/detect", hostile.DETECT),
    ]
    faults = []
    for path, table in tables:

        def answer(content, path=path):
            is_raw = isinstance(content, bytes)
            return client.post(path, content=content if is_raw else json.dumps(content))

        faults += [f"{path}: {fault}" for fault in faults_of(table, answer)]
    assert not faults, "\n".join(faults)


def test_what_is_just_within_each_limit_is_answered(client):
    rows = (["犬" * hostile.MAX_CHARACTERS], ["犬"] * hostile.MAX_ROWS, ["犬"])
    longest, most, few = (json.dumps({"instances": one}).encode() for one in rows)
    largest = few.ljust(MAX_BODY)
    for body in (longest, most, largest, gzip.compress(largest)):
        encoding = {"Content-Encoding": "gzip"} if body[:2] == b"\x1f\x8b" else {}
        assert client.post(PREDICT, content=body, headers=encoding).status_code == 200


def test_encodings_of_a_body(client):
    cut_off = gzip.compress(b'{"instances": ["a"]}')[:-9]
    table = [
        (413, f"at most {MAX_BODY} bytes", ("gzip", gzip.compress(b" " * (MAX_BODY + 1)))),
        (413, "", ("gzip", gzip.compress(b" " * 10**8)[:900])),  # grows before its end
        (400, "cut off", ("gzip", cut_off)),
        (400, "not gzip", ("gzip", b"abc")),
        (415, "must be gzip or identity. Received: br", ("br", b"abc")),
    ]

    def answer(given):
        name, content = given
        return client.post(PREDICT, content=content, headers={"Content-Encoding": name})

    assert not (faults := faults_of(table, answer)), "\n".join(faults)


def test_paths(url):
    body = json.dumps(hostile.ROWS).encode()

    def answer(request):
        # By hand: a client would tidy the path.
        head = f"{request} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
        status, head, content = exchange(url, head.encode() + body)
        assert b"text/html" not in head
        return SimpleNamespace(status_code=status, text=content, json=lambda: json.loads(content))

    table = [
        (status, says, *[f"{method} {path}" for path in paths.split()])
        for status, says, method, paths in hostile.PATHS
    ]
    assert not (faults := faults_of(table, answer)), "\n".join(faults)


def test_raw_requests(url):
    sent = [(statuses, one, False) for statuses, *requests in hostile.RAW for one in requests]
    sent += [((None, 400, 414), one, True) for one in hostile.NO_HTTP]
    faults = []
    for statuses, request, is_last in sent:
        status, *answer = exchange(url, request, is_last)
        if status not in statuses:
            faults.append(f"{request[:200]}: {status} {answer}")
    assert not faults, "\n".join(faults)


def test_what_comes_too_slowly_is_not_waited_for(url):
    start = time.monotonic()

    def head(path, size):
        return f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode()

    # A head, a body, and the rest of a body that is refused, for its size or its path.
    sent = [b"", head(PREDICT, 100), head(PREDICT, MAX_BODY + 1), head("/translate/x", 10**9)]
    connections = [connect(url) for _ in sent]
    for connection, first in zip(connections, sent, strict=True):
        connection.sendall(first)
    held, seconds = list(connections), {}
    while held and time.monotonic() - start < 30:
        time.sleep(0.05)
        for connection in list(held):
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(b"G")
            if not hostile.is_held(connection):
                held.remove(connection)
                seconds[connection] = time.monotonic() - start
    assert not held
    # The head of a request, or what follows a refusal, has `keep_alive` seconds.
    found = [seconds[connection] for connection in connections]
    assert min(found) >= 2 and found[1] >= MAX_SECONDS + 2
    responses = [hostile.receive(connection)[0] for connection in connections]
    assert responses == [None, 408, 413, 404]


def test_who_does_not_read_is_not_waited_for(addresses, wait_until):
    url, port = addresses
    never_reads = connect(f"http://127.0.0.1:{port}")
    never_reads.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")  # gRPC

    def request(length):
        document = {"inputs": ["犬" * length], "signature_name": "attend"}
        return hostile.post(PREDICT, json.dumps(document).encode())

    # One answer that is too large for the buffers of the system, and some that are together.
    for sent in (request(200), 12 * request(60)):
        with connect(url) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(sent)
            wait_until(lambda connection=connection: not hostile.is_held(connection), 60)
            assert connection.recv(13) == b"HTTP/1.1 200 "
    wait_until(lambda: not hostile.is_held(never_reads), 60)
    never_reads.close()


def test_who_hangs_up_early_or_stays_idle_disturbs_nobody(url):
    request = hostile.post(PREDICT, json.dumps({"instances": ["a"] * 40}).encode())
    for part in (20, 200, None):
        for _ in range(20):
            with connect(url) as connection:
                connection.sendall(request[:part])
    idle = [connect(url) for _ in range(200)]
    assert httpx.post(url + PREDICT, json={"instances": ["a"]}).status_code == 200
    for connection in idle:
        connection.close()


def tensor(dtype, shape, **values):
    proto = tensor_pb2.TensorProto(dtype=dtype, **values)
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    return proto


CALLS = [
    ("Predict", b"nonsense", ("INTERNAL", "UNKNOWN")),
    ("Predict", b"", ("NOT_FOUND",)),
    ("Predict", b"\0" * (MAX_BODY + 1), ("RESOURCE_EXHAUSTED",)),
    ("GetModelMetadata", b"", ("INVALID_ARGUMENT",)),
    *[(method, b"", ("UNIMPLEMENTED",)) for method in ("Classify", "Destroy")],
]
STRING = types_pb2.DT_STRING
TENSORS = [
    tensor_pb2.TensorProto(),
    tensor(9999, [1], string_val=[b"a"]),  # a type of nobody
    tensor(types_pb2.DT_RESOURCE, [1]),
    tensor(STRING, [], string_val=[b"a"]),
    tensor(STRING, [-1], string_val=[b"a"]),
    tensor(STRING, [2**40] * 4000, string_val=[b"a"]),
    tensor(STRING, [2**40], string_val=[b"a"]),  # beyond memory
    tensor(STRING, [1], string_val=[b"a", b"b"]),
    tensor(STRING, [1], tensor_content=b"\0" * 8),
    tensor(STRING, [1], string_val=[b"a" * (hostile.MAX_CHARACTERS + 1)]),
]


def test_grpc_calls_and_tensors(addresses):
    calls = list(CALLS)
    for proto in TENSORS:
        request = predict_pb2.PredictRequest(inputs={"text": proto}, model_spec={"name": "ja-en"})
        calls.append(("Predict", request.SerializeToString(), ("INVALID_ARGUMENT",)))
    faults = []
    with grpc.insecure_channel(f"127.0.0.1:{addresses[1]}") as channel:
        for method, message, codes in calls:
            call = channel.unary_unary(f"/tensorflow.serving.PredictionService/{method}")
            try:
                faults.append(f"{method} {message[:99]}: {call(message, timeout=30)}")
            except grpc.RpcError as refused:
                if refused.code().name not in codes or len(refused.details()) > 1000:
                    faults.append(f"{method} {message[:99]}: {refused}")
    assert not faults, "\n".join(faults)
