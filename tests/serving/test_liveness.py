"""No request keeps the server from others, whatever it asks for: each is answered soon."""

import gzip
import json
import socket
import threading
import time

import grpc
import httpx2 as httpx
import pytest
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2

from tests.serving.hostile import INFER, PREDICT, connect, receive

SECONDS = 0.5  # other tests run too; alone it is 0.1
LONG = ["犬" * 145] * 3
PAIR = {"source": "ja", "target": "en"}


@pytest.fixture(scope="module")
def addresses(served, start_server, free_port):
    port = free_port()
    with start_server(served, grpc_port=port) as url:
        yield url, port


def longest_wait(url, asking):
    """Seconds of the slowest answer to `GET /livez` until `asking` ends.

    Time in which the processors work for other processes does not count.
    """
    waits = []
    with connect(url) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while asking.is_alive() or not waits:
            start, work = time.monotonic(), time.process_time()
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            assert receive(connection)[0] == 200
            waits.append(min(time.monotonic() - start, time.process_time() - work))
            time.sleep(0.005)
    return max(waits)


def infer(texts, **parameters):
    given = {"name": "text", "shape": [len(texts)], "datatype": "BYTES", "data": texts}
    return {"inputs": [given], "parameters": parameters}


def attend(texts):
    inputs = {"text": tf.make_tensor_proto(texts)}
    spec = {"name": "ja-en", "signature_name": "attend"}
    return predict_pb2.PredictRequest(inputs=inputs, model_spec=spec)


SHAPE = infer(["a"])
SHAPE["inputs"][0]["shape"] = [999_999] * 100_000
MANY = ["a"] * 200_000
FORM = "application/x-www-form-urlencoded"
NESTED = b"--0\r\n" + b"".join(
    b"Content-Type: multipart/mixed; boundary=%d\r\n\r\n--%d\r\n" % (n, n) for n in range(1, 1000)
) + b"\r\n" * 400_000  # fmt: skip
CASES = {
    "answer of KServe": (INFER, 200, infer(LONG, signature_name="attend")),
    "binary answer of KServe": (
        INFER, 200, infer(LONG, signature_name="attend", binary_data_output=True),
    ),
    "rows": (PREDICT, 200, {"instances": LONG, "signature_name": "attend"}),
    "columns": (PREDICT, 200, {"inputs": LONG, "signature_name": "attend"}),
    "numbers of a shape": (INFER, 400, SHAPE),
    "many rows": (PREDICT, 413, {"instances": MANY}),
    "many numbers": (PREDICT, 400, {"inputs": list(range(100_000))}),
    "many columns": (PREDICT, 413, {"inputs": MANY}),
    "many inputs of KServe": (INFER, 413, infer(MANY)),
    "many texts of LibreTranslate": ("/translate", 413, {"q": MANY, **PAIR}),
    "text of a stream": ("/translate/stream", 413, {"q": "犬" * 340_000, **PAIR}),
    "text to detect": ("/detect", 200, {"q": "犬" * 340_000}),
    "form": ("/translate", 400, b"q=a&" * 200_000, FORM),
    "parts in parts": ("/translate", 400, NESTED, "multipart/form-data; boundary=0"),
    "tags": ("/translate", 200, {"q": "<p>" * 330_000 + "犬", "format": "html", **PAIR}),
    "gzip data of many members": (INFER, 400, gzip.compress(b"") * 50_000),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_others_are_answered_beside(addresses, case):
    url, _ = addresses
    path, expected, document, *media_type = CASES[case]
    is_raw = isinstance(document, bytes)
    content = document if is_raw else json.dumps(document, ensure_ascii=False).encode()
    headers = {"Content-Type": media_type[0]} if media_type else {}
    if content.startswith(b"\x1f\x8b"):
        headers["Content-Encoding"] = "gzip"
    found = []

    def ask():
        response = httpx.post(url + path, content=content, headers=headers, timeout=60)
        found.append((response.status_code, len(response.content)))

    asking = threading.Thread(target=ask)
    asking.start()
    wait = longest_wait(url, asking)
    asking.join()
    assert found[0][0] == expected
    assert expected == 200 or found[0][1] <= 1000
    assert wait <= SECONDS, f"{wait:.3f} s"


def test_others_are_answered_beside_an_answer_of_grpc(addresses):
    url, port = addresses
    limit = [("grpc.max_receive_message_length", 2**27)]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=limit) as channel:
        call = channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
        request = attend(LONG).SerializeToString()
        asking = threading.Thread(target=call, args=(request,))
        asking.start()
        assert longest_wait(url, asking) <= SECONDS


def test_the_values_of_an_answer_have_a_limit(addresses):
    document = {"instances": ["犬" * 150] * 40, "signature_name": "attend"}
    response = httpx.post(addresses[0] + PREDICT, json=document, timeout=60)
    assert response.status_code == 413 and "Send fewer or shorter texts" in response.text
