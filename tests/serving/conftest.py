import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import cache

import grpc
import httpx2 as httpx
import pytest
import tensorflow as tf
import uvicorn
from starlette.testclient import TestClient

from keras_attn.serving.app import Server
from keras_attn.serving.running import run
from keras_attn.serving.settings import Settings
from keras_attn.translation.config import Config
from keras_attn.translation.export.warmup_requests import FILE
from keras_attn.translation.versions import CONFIG, EXTRA

# Sentences for the page, in the file that an export brings.
EXAMPLES = [
    {"source": "猫が窓のそばで寝ている。", "translation": "A cat is sleeping by the window."},
    {"source": "明日は早く起きます。", "translation": "I will get up early tomorrow."},
]


# Limits of the server that `client` asks.
LIMITS = {"max_body": 20_000, "max_rows": 20, "max_characters": 300, "queue_rows": 20}


@pytest.fixture(scope="session")
def models(exported, tmp_path_factory):
    """A copy of the shared translator without the requests that warm it up.

    Compiling for all of them takes a minute.
    """
    folder = tmp_path_factory.mktemp("models") / "ja-en"
    return shutil.copytree(exported, folder, ignore=shutil.ignore_patterns(FILE))


@pytest.fixture(scope="session")
def write_echo(tmp_path_factory):
    """`write_echo(folder, version, is_older=False, pair=("ja", "en"))`: a model that answers its
    version and the text.

    It has the signatures of a translator that the page asks for, and is there at once: what
    concerns the server and not what it serves is tested with it. It is not sure of a text with a
    question mark. An older model has no examples, no glossary, no self-attention and no
    probabilities, and does not tell whether it is sure.
    """

    @cache
    def saved(version, is_older):
        texts = tf.TensorSpec([None], tf.string, "text")

        @tf.function(input_signature=[texts])
        def echo(text):
            return {"translation": _said(text, version)}

        @tf.function(input_signature=[texts])
        def nbest(text):
            said = _said(text, version)
            second = tf.strings.join([said, " (second)"])
            translations = tf.stack([said, second, tf.zeros_like(text)], axis=1)
            scores = tf.tile(tf.constant([[-0.25, -1.5, -float("inf")]]), [tf.size(text), 1])
            found = {"translations": translations, "scores": scores}
            if is_older:
                return found
            return {**found, "is_uncertain": tf.strings.regex_full_match(text, r"(?s).*\?.*")}

        terms = [tf.TensorSpec([None], tf.string, name) for name in ("term", "term_translation")]

        @tf.function(input_signature=[texts, *terms])
        def glossary(text, term, term_translation):
            for i in tf.range(tf.size(term)):
                text = tf.strings.regex_replace(text, term[i], term_translation[i])
            return {"translation": _said(text, version)}

        @tf.function(input_signature=[texts])
        def attend(text):
            return _attended(text, _said(text, version), _pieces(_said(text, version)), is_older)

        prefixes = tf.TensorSpec([None, None], tf.string, "prefix_pieces")

        @tf.function(input_signature=[texts, prefixes])
        def continue_(text, prefix_pieces):
            """The prefix is the translation."""
            is_end = tf.equal(prefix_pieces, "</s>")
            said = tf.strings.reduce_join(tf.where(is_end, "", prefix_pieces), axis=1)
            return _attended(text, said, _pieces(said), is_older)

        signatures = {"serving_default": echo, "nbest": nbest, "attend": attend}
        if not is_older:
            signatures |= {"glossary": glossary, "continue": continue_}
        written = tmp_path_factory.mktemp("echo") / str(version)
        tf.saved_model.save(tf.Module(), str(written), signatures=signatures)
        (written / EXTRA).mkdir(exist_ok=True)
        if not is_older:
            (written / EXTRA / "examples.json").write_text(json.dumps(EXAMPLES), "utf-8")
        return written

    def write_echo(folder, version, is_older=False, pair=("ja", "en")):
        aside = folder / f".{version}"
        shutil.copytree(saved(version, is_older), aside)
        Config(source=pair[0], target=pair[1]).save(aside / EXTRA / CONFIG)
        return aside.rename(folder / str(version))

    return write_echo


def _said(text, version):
    return tf.where(text == "", "", tf.strings.join([f"{version}: ", text]))


def _attended(text, translation, target, is_older):
    source = _pieces(text)
    num_sources, num_targets = tf.shape(source)[1], tf.shape(target)[1]

    def of_all(row):
        return tf.tile(row[None], [tf.size(text), *[1] * row.shape.rank])

    seen = {
        "translation": translation,
        "source_pieces": source,
        "target_pieces": target,
        "weights": of_all(_weights(num_targets, num_sources)),
    }
    if is_older:
        return seen
    others = tf.tile([[["a", "b", "c", "</s>"]]], [tf.size(text), num_targets, 1])
    return {
        **seen,
        "encoder_weights": of_all(_weights(num_sources, num_sources)),
        "decoder_weights": of_all(tf.linalg.eye(num_targets, batch_shape=[1, 3])),
        "probabilities": tf.where(target == "", 0.0, 0.75),
        "alternatives": tf.concat([target[..., None], others], axis=2),
        "alternative_probabilities": tf.where(target == "", 0.0, 1.0)[..., None]
        * [0.75, 0.125, 0.0625, 0.03125, 0.03],
    }


def _pieces(text):
    """Each character a piece, and the end mark."""
    characters = tf.strings.unicode_split(text, "UTF-8")
    return tf.concat([characters, tf.fill([tf.size(text), 1], "</s>")], axis=1).to_tensor("")


def _weights(num_targets, num_sources):
    """Weights `(2, 3, T, S)`: each of 2 layers and 3 heads looks to another side."""
    layer, head = tf.reshape(tf.range(2.0), [2, 1, 1, 1]), tf.reshape(tf.range(3.0), [1, 3, 1, 1])
    t = tf.cast(tf.range(num_targets), tf.float32)[:, None]
    s = tf.cast(tf.range(num_sources), tf.float32)
    return tf.nn.softmax(-tf.abs(s - t + 2 * head - layer))


@pytest.fixture(scope="session")
def examples():
    """Sources of the examples of such a model."""
    return [example["source"] for example in EXAMPLES]


@pytest.fixture
def echo(write_echo, tmp_path):
    """The folder `ja-en` of such a model with a version 1."""
    folder = tmp_path / "ja-en"
    write_echo(folder, 1)
    return folder


@pytest.fixture(scope="session")
def served(write_echo, tmp_path_factory):
    """The folder `ja-en` of such a model for the whole run. Read-only."""
    folder = tmp_path_factory.mktemp("served") / "ja-en"
    write_echo(folder, 1)
    return folder


def wait(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def wait_until():
    """`wait_until(condition, seconds=120)`: waits for it to be true."""
    return wait


@contextmanager
def _process(folder, *options):
    command = [sys.executable, "-m", "keras_attn.serving", str(folder), "--port", "0", *options]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=environment, **pipes) as process:
        try:
            url = process.stdout.readline().strip().rstrip("/")
            wait(lambda: httpx.get(f"{url}/healthz").status_code == 200)
            yield process, url
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="session")
def start_process():
    """`start_process(folder, *options)`: `python -m keras_attn.serving` in a context.

    The context's value is the process, ready, and its address. It takes the seconds that importing
    TensorFlow takes, so it is for tests of the process itself.
    """
    return _process


@contextmanager
def _thread(folder, **settings):
    started = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.Server, "run", lambda *given, **named: started.append((given, named)))
        run(folder, Settings(port=0, **settings))
    (((server,), named),) = started
    thread = threading.Thread(target=uvicorn.Server.run, args=(server,), kwargs=named)
    thread.start()
    try:
        url = f"http://127.0.0.1:{named['sockets'][0].getsockname()[1]}"
        wait(lambda: httpx.get(f"{url}/healthz").status_code == 200)
        yield url
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def start_server():
    """`start_server(folder, **settings)`: a server that listens, in a thread, in a context.

    The context's value is its address.
    """
    return _thread


@pytest.fixture(scope="session")
def open_client():
    """`open_client(folder, **settings)`: a client of a server of this process, in a context.

    With `is_loaded=False` there may be no model that is served.
    """

    @contextmanager
    def open_client(folder, is_loaded=True, **settings):
        app = Server(folder, Settings(**settings)).app()
        with TestClient(app, raise_server_exceptions=False) as client:
            wait(lambda: not is_loaded or client.get("/healthz").status_code == 200)
            yield client

    return open_client


@pytest.fixture(scope="session")
def client(served, open_client):
    """A client of a server with `LIMITS` of a model that echoes."""
    with open_client(served, **LIMITS) as client:
        yield client


@pytest.fixture(scope="session")
def free_port():
    """`free_port()`: the number of a port that is not in use."""

    def free_port():
        with socket.create_server(("127.0.0.1", 0)) as listening:
            return listening.getsockname()[1]

    return free_port


@pytest.fixture(scope="session")
def grpc_port(free_port):
    """Port of gRPC of `server`."""
    return free_port()


@pytest.fixture(scope="session")
def server(served, start_server, grpc_port):
    """The address of a server that listens, of a model that echoes, named `ja-en`."""
    with start_server(served, grpc_port=grpc_port) as url:
        yield url


@pytest.fixture(scope="session")
def channel(server, grpc_port):
    """A channel of gRPC to `server`."""
    with grpc.insecure_channel(f"127.0.0.1:{grpc_port}") as channel:
        yield channel


@pytest.fixture(scope="session")
def faults_of():
    """`faults_of(table, answer)`: faults of the answers to a table of wrong requests.

    The table has a request, a status and, where it matters, what the error says, by name;
    `answer(request)` is the response.
    """

    def faults_of(table, answer):
        faults = []
        for name, (request, status, *says) in table.items():
            response = answer(request)
            is_error = response.json().keys() == {"error"}
            is_said = is_error and all(part in response.json()["error"] for part in says)
            if response.status_code != status or not is_said:
                faults.append(f"{name}: {response.status_code} {response.text}")
        return faults

    return faults_of
