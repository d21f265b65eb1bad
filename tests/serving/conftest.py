import inspect
import json
import shutil
import threading
import time
from contextlib import contextmanager
from functools import cache

import httpx2 as httpx
import pytest
import tensorflow as tf
import uvicorn
from starlette.testclient import TestClient

from keras_attn.serving import running
from keras_attn.serving.apis import grpc
from keras_attn.serving.app import Server
from keras_attn.serving.settings import Settings
from keras_attn.translation.config import Config
from keras_attn.translation.versions import CONFIG, EXTRA

# Sentences for the page.
EXAMPLES = ["猫が窓のそばで寝ている。", "明日は早く起きます。"]
LIMITS = {"max_body": 20_000, "max_rows": 20, "max_characters": 300, "queue_rows": 20}


@pytest.fixture(scope="session")
def write_echo(tmp_path_factory):
    """`write_echo(folder, version, is_older=False, pair=("ja", "en"))`: a model that answers its
    version and the text.

    It has the signatures of a translator that the page asks for, and is there at once: what
    concerns the server and not what it serves is tested with it. It is not sure of a text with a
    question mark, and a text that begins with ~ is in another language. An older model tells
    neither, and has no examples, no glossary, no self-attention and no probabilities.
    """

    @cache
    def saved(version, is_older):
        signatures = _signatures(version, is_older)
        written = tmp_path_factory.mktemp("echo") / str(version)
        tf.saved_model.save(tf.Module(), str(written), signatures=signatures)
        (written / EXTRA).mkdir(exist_ok=True)
        if not is_older:
            examples = json.dumps([{"source": source} for source in EXAMPLES])
            (written / EXTRA / "examples.json").write_text(examples, "utf-8")
        return written

    def write_echo(folder, version, is_older=False, pair=("ja", "en")):
        aside = folder / f".{version}"
        shutil.copytree(saved(version, is_older), aside)
        Config(source=pair[0], target=pair[1]).save(aside / EXTRA / CONFIG)
        return aside.rename(folder / str(version))

    return write_echo


def _signatures(version, is_older):
    def say(text):
        return tf.where(text == "", "", tf.strings.join([f"{version}: ", text]))

    def echo(text):
        return {"translation": say(text)}

    def nbest(text):
        second = tf.strings.join([say(text), " (second)"])
        translations = tf.stack([say(text), second, tf.zeros_like(text)], axis=1)
        scores = tf.tile(tf.constant([[-0.25, -1.5, -float("inf")]]), [tf.size(text), 1])
        found = {"translations": translations, "scores": scores}
        if is_older:
            return found
        is_other = tf.strings.regex_full_match(text, "(?s)~.*")
        only = tf.where(is_other[:, None], [[0.0, -float("inf"), -float("inf")]], scores)
        return {
            **found,
            "scores": only,
            "is_uncertain": tf.strings.regex_full_match(text, r"(?s).*\?.*"),
            "is_other_language": is_other,
        }

    def glossary(text, term, term_translation):
        for i in tf.range(tf.size(term)):
            text = tf.strings.regex_replace(text, term[i], term_translation[i])
        return {"translation": say(text)}

    def attend(text):
        return _attended(text, say(text), is_older)

    def continue_(text, prefix_pieces):
        """The prefix is the translation."""
        pieces = tf.where(prefix_pieces == "</s>", "", prefix_pieces)
        return _attended(text, tf.strings.reduce_join(pieces, axis=1), is_older)

    def head(text, target_pieces, layer, head):
        return _of_head(_pieces(text), target_pieces, layer, head)

    functions = {"serving_default": echo, "nbest": nbest, "attend": attend}
    if not is_older:
        functions |= {"glossary": glossary, "continue": continue_, "head": head}
    return {
        name: tf.function(function, input_signature=_specs(function))
        for name, function in functions.items()
    }


def _specs(function):
    names = inspect.signature(function).parameters
    return [
        tf.TensorSpec(
            [None, None] if name.endswith("_pieces") else [None],
            tf.int32 if name in ("layer", "head") else tf.string,
            name,
        )
        for name in names
    ]


def _attended(text, translation, is_older):
    """Each character is a piece. Each of 2 layers and 3 heads looks to another side."""
    source, target = _pieces(text), _pieces(translation)
    num_sources, num_targets = tf.shape(source)[1], tf.shape(target)[1]

    def of_all(row):
        return tf.tile(row[None], [tf.size(text), *[1] * row.shape.rank])

    def weights(num_rows, num_columns):
        sizes = (2.0, 3.0, tf.cast(num_rows, tf.float32), tf.cast(num_columns, tf.float32))
        layer, head, row, column = tf.meshgrid(*map(tf.range, sizes), indexing="ij")
        return of_all(tf.nn.softmax(_score(layer, head, row, column)))

    seen = {
        "translation": translation,
        "source_pieces": source,
        "target_pieces": target,
        "weights": weights(num_targets, num_sources),
    }
    if is_older:
        return seen
    others = tf.tile([[["a", "b", "c", "</s>"]]], [tf.size(text), num_targets, 1])
    return {
        **seen,
        "encoder_weights": weights(num_sources, num_sources),
        "decoder_weights": of_all(tf.linalg.eye(num_targets, batch_shape=[1, 3])),
        "probabilities": tf.where(target == "", 0.0, 0.75),
        "alternatives": tf.concat([target[..., None], others], axis=2),
        "alternative_probabilities": tf.where(target == "", 0.0, 1.0)[..., None]
        * [0.75, 0.125, 0.0625, 0.03125, 0.03],
    }


def _score(layer, head, row, column):
    return -tf.abs(column - row + 2 * head - layer)


def _of_head(source, target, layer, head):
    """Each key has one number that is not 0, so a query holds the scores of its row."""
    size = tf.cast(tf.shape(source)[1], tf.float32)
    column, row = tf.range(size), tf.range(tf.cast(tf.shape(target)[1], tf.float32))
    layer, head = (tf.cast(x, tf.float32)[:, None, None] for x in (layer, head))
    eye = tf.eye(tf.shape(source)[1], batch_shape=[tf.shape(source)[0]])
    queries = _score(layer, head, row[:, None], column)
    return {"queries": queries, "keys": tf.sqrt(size) * eye, "values": eye}


def _pieces(text):
    characters = tf.strings.unicode_split(text, "UTF-8")
    return tf.concat([characters, tf.fill([tf.size(text), 1], "</s>")], axis=1).to_tensor("")


@pytest.fixture(scope="session")
def examples():
    """Sources of the examples of such a model."""
    return EXAMPLES


@pytest.fixture
def echo(write_echo, tmp_path):
    """The folder `ja-en` of such a model with a version 1."""
    return write_echo(tmp_path / "ja-en", 1).parent


@pytest.fixture(scope="session")
def served(write_echo, tmp_path_factory):
    """The folder `ja-en` of such a model for the whole run. Read-only."""
    return write_echo(tmp_path_factory.mktemp("served") / "ja-en", 1).parent


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
def _listening(folder, **settings):
    started = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.Server, "run", lambda *given, **named: started.append((given, named)))
        running.run(folder, Settings(port=0, **settings))
    (((server,), named),) = started
    thread = threading.Thread(target=uvicorn.Server.run, args=(server,), kwargs=named)
    with pytest.MonkeyPatch.context() as patch:
        # At the end nobody is on the way.
        patch.setattr(running, "ON_THE_WAY_SECONDS", 0.0)
        patch.setattr(grpc, "CLOSED_SECONDS", 0.0)
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
    """`start_server(folder, **settings)`: the address of a server in a thread, in a context."""
    return _listening


@contextmanager
def _asked_without_a_port(folder, is_loaded=True, **settings):
    app = Server(folder, Settings(**settings)).app()
    with TestClient(app, raise_server_exceptions=False) as client:
        wait(lambda: not is_loaded or client.get("/healthz").status_code == 200)
        yield client


@pytest.fixture(scope="session")
def open_client():
    """`open_client(folder, **settings)`: a client of a server of this process, in a context.

    With `is_loaded=False` there may be no model that is served.
    """
    return _asked_without_a_port


@pytest.fixture(scope="session")
def client(served, open_client):
    """A client of a server with `LIMITS` of a model that echoes."""
    with open_client(served, **LIMITS) as client:
        yield client


@pytest.fixture(scope="session")
def server_and_port(served, start_server, free_port):
    """The address of a server of a model that echoes, named `ja-en`, and its port for gRPC."""
    port = free_port()
    with start_server(served, grpc_port=port) as url:
        yield url, port


@pytest.fixture(scope="session")
def server(server_and_port):
    return server_and_port[0]
