"""Clients of a server, each with a connection of its own, by three protocols in turn."""

import json
import threading
from http.client import HTTPConnection

import grpc
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc


class Clients:
    """Clients that ask again and again within a `with` block, each until its first error.

    `is_right(version, text, translation)` checks an answer. `protocols` has those of right answers.
    """

    def __init__(self, host, port, grpc_port, model, texts, is_right, number):
        self.protocols, self.errors = set(), []
        self._texts, self._is_right = texts, is_right
        self._is_done = threading.Event()
        kinds = [
            ("TensorFlow Serving, REST", lambda: by_rest(host, port, model)),
            ("TensorFlow Serving, gRPC", lambda: by_grpc(host, grpc_port, model)),
            ("Open Inference Protocol", lambda: by_kserve(host, port, model)),
        ]
        self._threads = [
            threading.Thread(target=self._work, args=(i, *kinds[i % len(kinds)]), daemon=True)
            for i in range(number)
        ]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self._is_done.set()
        for thread in self._threads:
            thread.join()

    def _work(self, number, protocol, connect):
        ask = connect()
        while not self._is_done.is_set():
            text = self._texts[number % len(self._texts)]
            number += 1
            try:
                version, translation = ask(text)
            except Exception as error:  # any error is a finding
                self.errors.append(f"{protocol}: {error!r}")
                return
            if self._is_right(version, text, translation):
                self.protocols.add(protocol)
            else:
                self.errors.append(f"{protocol}: wrong answer to {text!r}: {translation!r}")


def by_rest(host, port, model):
    """Client of TensorFlow Serving's REST API, which does not tell the version."""
    connection = HTTPConnection(host, port, timeout=120)

    def ask(text):
        path = f"/v1/models/{model}:predict"
        (translation,) = _posted(connection, path, {"instances": [text]})["predictions"]
        return None, translation

    return ask


def by_kserve(host, port, model):
    """Client of the Open Inference Protocol."""
    connection = HTTPConnection(host, port, timeout=120)

    def ask(text):
        given = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [text]}
        answer = _posted(connection, f"/v2/models/{model}/infer", {"inputs": [given]})
        return int(answer["model_version"]), answer["outputs"][0]["data"][0]

    return ask


def _posted(connection, path, document):
    connection.request("POST", path, json.dumps(document))
    response = connection.getresponse()
    body = response.read().decode("utf-8")
    assert response.status == 200, body
    return json.loads(body)


def by_grpc(host, port, model):
    """Client of TensorFlow Serving's `PredictionService`."""
    # A channel shares the connection of others to the same address, unless it has options.
    channel = grpc.insecure_channel(f"{host}:{port}", [("grpc.use_local_subchannel_pool", 1)])
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)

    def ask(text):
        request = predict_pb2.PredictRequest()
        request.model_spec.name = model
        request.inputs["text"].CopyFrom(tf.make_tensor_proto([text]))
        response = stub.Predict(request, timeout=120)
        (translation,) = response.outputs["translation"].string_val
        return response.model_spec.version.value, translation.decode("utf-8")

    return ask
