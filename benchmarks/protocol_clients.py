"""Clients of a server, each with a connection of its own, by three protocols in turn."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from http.client import HTTPConnection
from typing import Any, NamedTuple

import grpc
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

# A text to its translation, and the number of the version if the protocol tells it.
Ask = Callable[[str], tuple[int | None, str]]


class Answer(NamedTuple):
    """Answer of the server: protocol, version, and seconds from the request to the answer."""

    protocol: str
    version: int | None
    seconds: float


class Clients:
    """Clients that ask again and again within a `with` block, each until its first error.

    Args:
        host: Host of the server.
        port: Port of HTTP.
        grpc_port: Port of gRPC.
        model: Name of the model.
        texts: Texts to translate.
        is_right: Function of version, text and translation that checks an answer.
        number: Number of clients.

    Attributes:
        answers: Right answers, in their order.
        errors: Errors and wrong answers.
    """

    def __init__(
        self,
        host: str,
        port: int,
        grpc_port: int,
        model: str,
        texts: Sequence[str],
        is_right: Callable[[int | None, str, str], bool],
        number: int = 32,
    ):
        self.answers: list[Answer] = []
        self.errors: list[str] = []
        self._texts, self._is_right = texts, is_right
        self._is_done = threading.Event()
        kinds: list[tuple[str, Callable[[], Ask]]] = [
            ("TensorFlow Serving, REST", lambda: by_rest(host, port, model)),
            ("TensorFlow Serving, gRPC", lambda: by_grpc(host, grpc_port, model)),
            ("Open Inference Protocol", lambda: by_kserve(host, port, model)),
        ]
        self._threads = [
            threading.Thread(target=self._work, args=(i, *kinds[i % len(kinds)]), daemon=True)
            for i in range(number)
        ]

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._is_done.set()
        self.join()

    def join(self) -> None:
        """Wait until all clients have ended."""
        for thread in self._threads:
            thread.join()

    def counts(self) -> Counter[tuple[str, int | None]]:
        """Number of answers by protocol and version."""
        return Counter((one.protocol, one.version) for one in self.answers)

    def _work(self, number: int, protocol: str, connect: Callable[[], Ask]) -> None:
        ask = connect()
        while not self._is_done.is_set():
            text = self._texts[number % len(self._texts)]
            number += 1
            start = time.monotonic()
            try:
                version, translation = ask(text)
            except Exception as error:  # any error is a finding
                self.errors.append(f"{protocol}: {error!r}")
                return
            if self._is_right(version, text, translation):
                self.answers.append(Answer(protocol, version, time.monotonic() - start))
            else:
                self.errors.append(f"{protocol}: wrong answer to {text!r}: {translation!r}")


def by_rest(host: str, port: int, model: str) -> Ask:
    """Client of TensorFlow Serving's REST API, which does not tell the version."""
    connection = HTTPConnection(host, port, timeout=120)

    def ask(text: str) -> tuple[None, str]:
        path = f"/v1/models/{model}:predict"
        (translation,) = _posted(connection, path, {"instances": [text]})["predictions"]
        return None, translation

    return ask


def by_kserve(host: str, port: int, model: str) -> Ask:
    """Client of the Open Inference Protocol."""
    connection = HTTPConnection(host, port, timeout=120)

    def ask(text: str) -> tuple[int, str]:
        given = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [text]}
        answer = _posted(connection, f"/v2/models/{model}/infer", {"inputs": [given]})
        return int(answer["model_version"]), answer["outputs"][0]["data"][0]

    return ask


def _posted(connection: HTTPConnection, path: str, document: Any) -> Any:
    connection.request("POST", path, json.dumps(document))
    response = connection.getresponse()
    body = response.read().decode("utf-8")
    if response.status != 200:
        raise RuntimeError(f"status {response.status}: {body[:200]}")
    return json.loads(body)


def by_grpc(host: str, port: int, model: str) -> Ask:
    """Client of TensorFlow Serving's `PredictionService`."""
    # A channel shares the connection of others to the same address, unless it has options.
    channel = grpc.insecure_channel(f"{host}:{port}", [("grpc.use_local_subchannel_pool", 1)])
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)

    def ask(text: str) -> tuple[int, str]:
        request = predict_pb2.PredictRequest()
        request.model_spec.name = model
        request.inputs["text"].CopyFrom(tf.make_tensor_proto([text]))
        response = stub.Predict(request, timeout=120)
        (translation,) = response.outputs["translation"].string_val
        return response.model_spec.version.value, translation.decode("utf-8")

    return ask
