import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx2 as httpx
import numpy as np
import pytest
import tensorflow as tf
from starlette.testclient import TestClient

from keras_attn import Transformer
from keras_attn.serving.app import Server
from keras_attn.serving.settings import Settings
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.export.saved_model import export
from keras_attn.translation.export.translator import Translator
from keras_attn.translation.export.warmup_requests import FILE
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.versions import CONFIG, EXTRA

# Sentences written for these tests.
PAIRS = [
    Pair("猫が窓のそばで寝ている。", "A cat is sleeping by the window."),
    Pair("明日は早く起きます。", "I will get up early tomorrow."),
    Pair("この道は駅まで続く。", "This road leads to the station."),
    Pair("友達に手紙を書いた。", "I wrote a letter to my friend."),
    Pair("昨日、友達と映画を見ました。", "I watched a movie with my friends yesterday."),
]


# Sentences for the page, in the file that an export brings.
EXAMPLES = [
    {"source": "猫が窓のそばで寝ている。", "translation": "A cat is sleeping by the window."},
    {"source": "明日は早く起きます。", "translation": "I will get up early tomorrow."},
]


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """The folder `ja-en` of an untrained translator whose answers differ from text to text.

    Without the requests that warm it up: compiling for all of them takes a minute.
    """
    folder = tmp_path_factory.mktemp("models") / "ja-en"
    config = Config(vocab_size=400, max_pieces=32, beam_size=3)
    tokenizers = tokenizer.load_or_train(tmp_path_factory.mktemp("tokenizers"), PAIRS, config)
    vocabularies = (one.vocab_size for one in tokenizers)
    model = Transformer.from_sizes(
        *vocabularies, 2, 2, num_hiddens=16, ffn_num_hiddens=16, num_heads=2
    )
    model((np.ones((1, 1), int), np.ones((1, 1), int)))
    random = np.random.default_rng(1)
    # Strong weights; scales of the normalisations stay around 1.
    model.set_weights([(w == 1) + random.normal(0, 0.5, w.shape) for w in model.get_weights()])
    version = export(model, tokenizers, config, folder).folder
    (version / EXTRA / FILE).unlink()
    return folder


@pytest.fixture(scope="session")
def write_echo():
    """`write_echo(folder, version, is_older=False, pair=("ja", "en"))`: a model that answers its
    version and the text.

    It has the signatures of a translator that the page asks for, and is there at once: what
    concerns the server and not what it serves is tested with it. It is not sure of a text with a
    question mark. An older model has no examples, no glossary, no self-attention and no
    probabilities, and does not tell whether it is sure.
    """

    def write_echo(folder, version, is_older=False, pair=("ja", "en")):
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

        folder.mkdir(parents=True, exist_ok=True)
        aside = folder / f".{version}"
        signatures = {"serving_default": echo, "nbest": nbest, "attend": attend}
        if not is_older:
            signatures |= {"glossary": glossary, "continue": continue_}
        tf.saved_model.save(tf.Module(), str(aside), signatures=signatures)
        (aside / EXTRA).mkdir(exist_ok=True)
        if not is_older:
            (aside / EXTRA / "examples.json").write_text(json.dumps(EXAMPLES), "utf-8")
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


@contextmanager
def running(folder, *options, stderr=subprocess.DEVNULL):
    command = [sys.executable, "-m", "keras_attn.serving", str(folder), "--port", "0", *options]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
    ) as process:
        try:
            url = process.stdout.readline().strip().rstrip("/")
            wait(lambda: httpx.get(f"{url}/healthz").status_code == 200)
            yield process, url
        finally:
            process.terminate()
            process.wait(30)


def wait(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


@pytest.fixture(scope="session")
def start_server():
    """`start_server(folder, *options, stderr=...)`: `python -m keras_attn.serving` in a context.

    The context's value is the process, ready, and its address.
    """
    return running


@pytest.fixture(scope="session")
def wait_until():
    """`wait_until(condition, seconds=120)`: waits for it to be true."""
    return wait


@pytest.fixture(scope="session")
def open_client():
    """`open_client(folder, **settings)`: a client of a server of this process, in a context."""

    @contextmanager
    def open_client(folder, **settings):
        app = Server(folder, Settings(**settings)).app()
        with TestClient(app, raise_server_exceptions=False) as client:
            wait(lambda: client.get("/healthz").status_code == 200)
            yield client

    return open_client


@pytest.fixture(scope="session")
def server(write_echo, tmp_path_factory):
    """The address of a server of a model that echoes, named `ja-en`, in a process of its own."""
    folder = tmp_path_factory.mktemp("served") / "ja-en"
    write_echo(folder, 1)
    with running(folder) as (_, url):
        yield url


@pytest.fixture(scope="session")
def translator(models):
    """The model of `server`, loaded here."""
    return Translator.load(models)
