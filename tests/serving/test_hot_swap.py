"""A new version appears while clients call: no error, and both versions' answers are right."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
import httpx2 as httpx
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

NUM_CLIENTS = 12


def by_rest(url, port):
    client = httpx.Client(base_url=url, timeout=120)

    def ask(text):
        reply = client.post("/v1/models/ja-en:predict", json={"instances": [text]})
        (translation,) = reply.raise_for_status().json()["predictions"]
        return None, translation  # the protocol does not tell the version

    return ask


def by_kserve(url, port):
    client = httpx.Client(base_url=url, timeout=120)

    def ask(text):
        given = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [text]}
        reply = client.post("/v2/models/ja-en/infer", json={"inputs": [given]})
        found = reply.raise_for_status().json()
        return int(found["model_version"]), found["outputs"][0]["data"][0]

    return ask


def by_grpc(url, port):
    # A channel shares the connection of others to the same address, unless it has options.
    channel = grpc.insecure_channel(f"127.0.0.1:{port}", [("grpc.use_local_subchannel_pool", 1)])
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)

    def ask(text):
        inputs = {"text": tf.make_tensor_proto([text])}
        request = predict_pb2.PredictRequest(model_spec={"name": "ja-en"}, inputs=inputs)
        reply = stub.Predict(request, timeout=120)
        (translation,) = reply.outputs["translation"].string_val
        return reply.model_spec.version.value, translation.decode()

    return ask


def test_a_swap_loses_no_request(echo, write_echo, tmp_path, start_server, wait_until, free_port):
    port, newer = free_port(), write_echo(tmp_path / "aside", 3)
    with start_server(echo, poll_seconds=0.2, grpc_port=port) as url:
        said, is_done = [], threading.Event()

        def client(number):  # asks until the end; an error or a wrong answer is raised
            ask = (by_rest, by_kserve, by_grpc)[number % 3](url, port)
            count = 0
            while not is_done.is_set():
                text = f"text {number} {count}"
                version, translation = ask(text)
                found, _, rest = translation.partition(": ")
                assert (rest, version) in ((text, None), (text, int(found)))
                said.append(int(found))
                count += 1
            assert count

        def statuses():
            answer = httpx.get(f"{url}/v1/models/ja-en").json()["model_version_status"]
            return {one["version"]: (one["state"], one["status"]["error_code"]) for one in answer}

        with ThreadPoolExecutor(NUM_CLIENTS) as pool:
            clients = [pool.submit(client, number) for number in range(NUM_CLIENTS)]
            try:
                wait_until(lambda: len(said) > 100)
                assert set(said) == {1}
                (echo / "2").mkdir()
                (echo / "2" / "saved_model.pb").write_bytes(b"half a model")
                wait_until(lambda: statuses().get("2") == ("END", "UNKNOWN"))
                newer.rename(echo / "3")
                wait_until(lambda: 3 in said)
                so_far = len(said)
                wait_until(lambda: len(said) > so_far + 100)
            finally:
                is_done.set()
        for one in clients:
            one.result()
        assert set(said) == {1, 3}
        # Once each client has an answer of the new version, the old one answers nobody.
        assert set(said[-NUM_CLIENTS:]) == {3}
        served, left, broken = ("AVAILABLE", "OK"), ("END", "OK"), ("END", "UNKNOWN")
        assert statuses() == {"1": left, "2": broken, "3": served}


def test_other_signatures_take_over(write_echo, tmp_path, examples, open_client, wait_until):
    folder = write_echo(tmp_path / "ja-en", 1, is_older=True).parent
    with open_client(folder, poll_seconds=0.1) as client:

        def ask(**body):
            return client.post("/v1/models/ja-en:predict", json=body)

        def settings():
            return client.get("/page/settings.json").json()

        nbest = {"signature_name": "nbest", "instances": ["~a?"]}
        with_terms = {"instances": ["a"], "glossary": {"a": "A"}}
        assert ask(**nbest).json()["predictions"][0].keys() == {"translations", "scores"}
        refused = ask(**with_terms)
        assert refused.status_code == 400
        assert 'cannot use a glossary: it has no signature "glossary"' in refused.json()["error"]
        assert settings()["examples"] == []

        newer = write_echo(folder, 2)
        wait_until(lambda: settings()["version"] == 2)
        assert settings()["examples"] == examples
        found = ask(**nbest).json()["predictions"][0]
        assert found["is_uncertain"] is found["is_other_language"] is True
        assert ask(**with_terms).json() == {"predictions": ["2: A"]}

        shutil.rmtree(newer)
        wait_until(lambda: settings()["version"] == 1)
        assert settings()["examples"] == []
        assert ask(**with_terms).status_code == 400
