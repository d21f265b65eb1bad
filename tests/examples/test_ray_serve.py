"""Ray Serve answers what the SavedModel answers, with two replicas, in batches."""

import asyncio
import json
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import httpx2 as httpx
import pytest
import tensorflow as tf

REASON = 'Ray Serve is not installed: pip install -e ".[ray]"'
ray = pytest.importorskip("ray", reason=REASON, exc_type=ImportError)
serve = pytest.importorskip("ray.serve", reason=REASON, exc_type=ImportError)

pytestmark = pytest.mark.slow  # a cluster of Ray starts

BATCH_SIZE = 4


@pytest.fixture(scope="module")
def folder(save_translator, tmp_path_factory):
    """Two versions of a model that names itself in its answers."""
    folder = tmp_path_factory.mktemp("models") / "ja-en"
    for version in ("1", "2"):

        def translate(text, version=version):
            translation = tf.strings.join([f"version {version} of ", text])
            return {"translation": tf.where(tf.equal(text, ""), "", translation)}

        save_translator(folder / version, "serving_default", translate)
    return folder


@pytest.fixture(scope="module")
def url(script, folder, free_port):
    port = free_port()
    options = ["--replicas", "2", "--batch-size", str(BATCH_SIZE), "--batch-wait", "0.3"]
    arguments = script.parse_arguments([str(folder), "--port", str(port), *options])
    # Paths of sockets may not be long, as those of `tmp_path` are.
    logs = tempfile.mkdtemp(prefix="ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")  # a test reports to nobody
        # Ray ends processes where memory is short, whoever took it: other tests run too.
        patch.setenv("RAY_memory_monitor_refresh_ms", "0")
        try:
            ray.init(
                "local",
                num_cpus=2,
                include_dashboard=False,
                log_to_driver=False,
                object_store_memory=80 * 2**20,
                _node_ip_address="127.0.0.1",
                _temp_dir=logs,
            )
            yield f"http://127.0.0.1:{port}{script.deploy(arguments)}"
        finally:
            serve.shutdown()
            ray.shutdown()
            shutil.rmtree(logs, ignore_errors=True)


def post(url, body):
    """Status, headers and the JSON of the answer."""
    content = body if isinstance(body, bytes) else json.dumps(body)
    answer = httpx.post(url, content=content, timeout=60)
    return answer.status_code, answer.headers, answer.json()


def test_answers_are_those_of_the_newest_saved_model_in_the_order_of_the_texts(url, folder):
    texts = ["犬が水を飲む。", "", "🙂", "a", "朝", "夜"]
    model = tf.saved_model.load(str(folder / "2"))
    expected = model.signatures["serving_default"](text=tf.constant(texts))["translation"]
    status, _, answer = post(url, {"instances": texts})
    assert status == 200
    assert answer == {"predictions": [text.decode() for text in expected.numpy()]}
    assert answer["predictions"][:2] == ["version 2 of 犬が水を飲む。", ""]
    assert post(url, {"instances": []})[2] == {"predictions": []}


def test_both_replicas_answer_and_requests_that_come_together_are_one_batch(url):
    texts = [f"text {i}" for i in range(48)]
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda text: post(url, {"instances": [text]}), texts))
    for text, (status, _, answer) in zip(texts, answers, strict=True):
        assert (status, answer) == (200, {"predictions": [f"version 2 of {text}"]})
    assert len({headers["x-replica"] for _, headers, _ in answers}) == 2
    sizes = [int(headers["x-batch-size"]) for _, headers, _ in answers]
    assert 1 < max(sizes) <= BATCH_SIZE


def test_a_bad_request_is_told_what_is_wrong(url):
    bodies = [
        *(b"", b"{", b"\xff", b"[" * 100_000, [], {}, {"instances": "a"}, {"instances": [1]}),
        {"instances": ["a"], "glossary": {"a": "A"}},
        {"instances": ["a"], "signature_name": "nbest"},
    ]
    for body in bodies:
        status, _, answer = post(url, body)
        assert status == 400, body
        assert answer["error"].startswith("The body must "), body


def test_replicas_are_healthy_if_their_model_answers_nothing_with_nothing(url, script):
    (deployment,) = serve.status().applications["translator"].deployments.values()
    assert deployment.replica_states == {"RUNNING": 2}
    host = url.split("/v1")[0]
    assert httpx.get(f"{host}/-/healthz", timeout=60).text == "success"
    replica = object.__new__(script.Replica.func_or_class)
    replica._translator = lambda texts: ["" for _ in texts]
    asyncio.run(replica.check_health())
    replica._translator = lambda texts: ["nonsense" for _ in texts]
    with pytest.raises(RuntimeError, match="does not answer empty text"):
        asyncio.run(replica.check_health())


def test_a_second_replica_comes_when_one_is_too_busy(url, script, folder):
    port = url.split(":")[2].split("/")[0]
    # A text waits half a second for others, so that two are busy with these requests.
    options = ["--replicas", "1", "--max-replicas", "2", "--batch-size", "2", "--batch-wait", "0.5"]
    script.deploy(script.parse_arguments([str(folder), "--port", port, *options]))
    replicas: set[str] = set()
    end = time.monotonic() + 120

    def ask_until_two_answer(number):
        while len(replicas) < 2 and time.monotonic() < end:
            status, headers, _ = post(url, {"instances": [f"text {number}"]})
            assert status == 200
            replicas.add(headers["x-replica"])

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(ask_until_two_answer, range(16)))
    assert len(replicas) == 2
