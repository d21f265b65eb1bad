"""The bytes of a connection: what clients that others wrote do, apart from plain requests."""

import json
import socket
import struct

import grpc
import httpx2 as httpx
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2

from tests.serving.hostile import INFER, PREDICT, connect, exchange, post, receive

BODY, SAID = json.dumps({"instances": ["犬"]}).encode(), {"predictions": ["1: 犬"]}
# As Java's HttpClient and `curl --http2` offer it.
OFFER = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAA")


def test_an_offer_of_http_2_is_ignored_and_the_request_is_answered(server):
    request = post(PREDICT, BODY, *OFFER)
    for at in (len(request), request.index(b"\r\n\r\n") + 10):  # whole, and in two pieces
        with connect(server) as connection:
            for _ in range(2):  # the connection stays open for the next request
                connection.sendall(request[:at])
                connection.sendall(request[at:])
                status, _, body = receive(connection)
                assert (status, json.loads(body)) == (200, SAID)


def test_a_client_that_closes_its_side_is_answered_if_its_request_is_whole(server):
    with connect(server) as connection:
        connection.sendall(post(PREDICT, BODY))
        connection.shutdown(socket.SHUT_WR)
        status, _, body = receive(connection)
        assert (status, json.loads(body)) == (200, SAID)
        assert connection.recv(1) == b""  # then the server closes too
    assert exchange(server, post(PREDICT, BODY)[:-3], is_last=True)[0] in (None, 400)


def test_the_text_of_a_client_that_hangs_up_is_not_computed(
    served, start_server, free_port, wait_until
):
    given = {"name": "text", "shape": [1], "datatype": "BYTES", "data": ["犬"]}
    document = {"q": "犬。猫。", "source": "ja", "target": "en"}
    infer = json.dumps({"inputs": [given]}).encode()
    translate = json.dumps(document).encode()
    bodies = {PREDICT: BODY, INFER: infer, "/translate": translate, "/translate/stream": translate}
    inputs = {"text": tf.make_tensor_proto(["犬"])}
    request = predict_pb2.PredictRequest(inputs=inputs, model_spec={"name": "ja-en"})
    port = free_port()
    # They wait for company that never comes.
    with start_server(served, batch_wait=60.0, grpc_port=port) as url:

        def wait_for_queue(number):
            says = f"keras_attn_queue_rows {number}.0"
            wait_until(lambda: says in httpx.get(f"{url}/metrics").text)

        for path, body in bodies.items():
            with connect(url) as connection:
                connection.sendall(post(path, body))
                wait_for_queue(1)
                # Closing sends a reset, not only the end of what is sent.
                reset = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            wait_for_queue(0)
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            call = channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
            calling = call.future(request.SerializeToString())
            wait_for_queue(1)
            calling.cancel()
            wait_for_queue(0)
        assert "keras_attn_batch_rows_count 0.0" in httpx.get(f"{url}/metrics").text
