"""The server, as its callers see it."""

import gzip
import json
import time
from concurrent.futures import ThreadPoolExecutor

import httpx2 as httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from keras_attn.serving import app
from keras_attn.serving.app import Server
from keras_attn.serving.settings import Settings

TEXT = "昨日、友達と映画を見ました。"
PREDICT = "/v1/models/ja-en:predict"


@pytest.fixture
def client(echo, open_client):
    limits = {"max_body": 20_000, "max_rows": 20, "max_characters": 300, "queue_rows": 20}
    with open_client(echo, **limits) as client:
        yield client


def test_status_of_the_model(client):
    (version,) = client.get("/v1/models/ja-en").json()["model_version_status"]
    assert (version["version"], version["state"]) == ("1", "AVAILABLE")


def test_freed_memory_is_returned_from_time_to_time_until_the_end(
    echo, open_client, wait_until, monkeypatch
):
    returned = []
    monkeypatch.setattr(app, "MEMORY_SECONDS", 0.02)
    monkeypatch.setattr(app.allocator, "return_freed_memory", lambda: returned.append(True))
    with open_client(echo) as client:
        wait_until(lambda: len(returned) >= 3)
        assert client.get("/healthz").status_code == 200
    count = len(returned)
    time.sleep(0.1)
    assert len(returned) == count


def test_a_body_that_grows_beyond_the_limit_is_refused(client):
    parts = (b" " * 1000 for _ in range(100))  # sent in pieces, no length announced
    assert client.post(PREDICT, content=parts).status_code == 413


def test_a_request_with_a_glossary_is_translated_with_it(client):
    texts, terms = ["木村と田中", "田中と東京"], {"木村": "Kimura", "田中": "Tanaka"}
    expected = ["1: KimuraとTanaka", "1: Tanakaと東京"]
    rows = client.post(PREDICT, json={"instances": texts, "glossary": terms})
    assert rows.json() == {"predictions": expected}
    instances = [{"text": text} for text in texts]
    objects = client.post(PREDICT, json={"instances": instances, "glossary": terms})
    assert objects.json() == rows.json()
    columns = client.post(PREDICT, json={"inputs": texts, "glossary": terms})
    assert columns.json() == {"outputs": expected}


@pytest.mark.parametrize("number", [0, 1, 2, 30])
def test_the_glossary_signature_takes_any_number_of_terms_in_columns(client, number):
    terms = [f"term{i:02}" for i in range(number)]
    inputs = {
        "text": ["a term00", "b"],
        "term": terms,
        "term_translation": [f"T{i}" for i in terms],
    }
    response = client.post(PREDICT, json={"signature_name": "glossary", "inputs": inputs})
    assert response.json() == {"outputs": ["1: a Tterm00" if number else "1: a term00", "1: b"]}


@pytest.mark.parametrize("signature", ["", "serving_default", "glossary"])
def test_a_glossary_and_its_signature_go_together(client, signature):
    body = {"signature_name": signature, "instances": ["a"], "glossary": {"a": "A"}}
    assert client.post(PREDICT, json=body).json() == {"predictions": ["1: A"]}


def test_a_glossary_without_terms_changes_nothing(client):
    body = {"signature_name": "nbest", "instances": ["a"], "glossary": {}}
    (found,) = client.post(PREDICT, json=body).json()["predictions"]
    assert found["translations"][0] == "1: a"


def test_requests_with_different_glossaries_at_once_are_not_mixed(echo, wait_until):
    settings = Settings(batch_wait=0.2)  # so that all of them wait for company
    with TestClient(Server(echo, settings).app()) as client, ThreadPoolExecutor(16) as pool:
        wait_until(lambda: client.get("/healthz").status_code == 200)
        bodies = [{"instances": ["a"], "glossary": {"a": f"A{n % 4}"}} for n in range(16)]
        answers = list(pool.map(lambda body: client.post(PREDICT, json=body).json(), bodies))
    assert answers == [{"predictions": [f"1: A{n % 4}"]} for n in range(16)]


def test_terms_are_no_rows_to_metrics_and_limits(client, caplog):
    caplog.set_level("INFO")
    terms = {f"term{n}": "T" for n in range(50)}  # more than the 20 texts that are allowed
    assert client.post(PREDICT, json={"instances": ["a", "b"], "glossary": terms}).is_success
    assert "keras_attn_batch_rows_sum 2.0" in client.get("/metrics").text
    rows = [record.rows for record in caplog.records if record.getMessage() == "request"]
    assert 2 in rows
    assert "term1" not in caplog.text


def test_a_model_without_a_glossary_says_so(write_echo, tmp_path, wait_until):
    folder = tmp_path / "older"
    write_echo(folder, 1, is_older=True)
    with TestClient(Server(folder, Settings()).app()) as client:
        wait_until(lambda: client.get("/healthz").status_code == 200)
        predict = "/v1/models/older:predict"
        response = client.post(predict, json={"instances": ["a"], "glossary": {"a": "A"}})
        assert response.status_code == 400
        assert 'cannot use a glossary: it has no signature "glossary"' in response.json()["error"]
        assert client.post(predict, json={"instances": ["a"]}).json() == {"predictions": ["1: a"]}
        assert client.get("/page/settings.json").json()["examples"] == []


@pytest.mark.parametrize(
    "text",
    [
        "\n\n".join(f"{n}行目です。" for n in range(20)),
        "一行目。\r\n\r\n三行目。\r\n",
        "表\t一\t二\n\t三",
        "👩‍👩‍👧 と 🇯🇵 と 👍🏽",
        "詳しくは https://example.com/a?b=c&d=%E7%8A%AC#e へ。",
        " \n \n",
        "𠮷" * 300,
    ],
    ids=["lines", "CRLF", "tabs", "emoji", "URL", "blank", "long"],
)
@pytest.mark.parametrize("signature", ["serving_default", "nbest", "glossary"])
def test_pasted_text_reaches_the_model_as_it_was_pasted(client, text, signature):
    inputs = {"text": [text]}
    if signature == "glossary":
        inputs |= {"term": ["<not there>"], "term_translation": ["x"]}
    response = client.post(PREDICT, json={"signature_name": signature, "inputs": inputs})
    outputs = response.json()["outputs"]
    said = outputs["translations"][0][0] if signature == "nbest" else outputs[0]
    assert said == f"1: {text}"


def test_metrics_count_requests_rows_and_seconds(client):
    client.post(PREDICT, json={"instances": [TEXT, TEXT]})
    client.post(PREDICT, content=b"?")
    client.get("/a/path/of/nobody")
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(response.text)
    samples = {
        (sample.name, sample.labels.get("kind"), sample.labels.get("status")): sample.value
        for family in families
        for sample in family.samples
    }
    assert samples["keras_attn_requests_total", "/v1/", "200"] == 1
    assert samples["keras_attn_requests_total", "/v1/", "400"] == 1
    assert samples["keras_attn_requests_total", "other", "404"] == 1
    assert samples["keras_attn_request_seconds_count", "/v1/", None] == 2
    assert samples["keras_attn_batch_rows_sum", None, None] == 2
    assert samples["keras_attn_model_version", None, None] == 1
    assert samples["keras_attn_queue_rows", None, None] == 0


def test_logs_say_what_was_asked_and_not_what_was_said(client, caplog):
    caplog.set_level("INFO")
    client.post(PREDICT, json={"instances": [TEXT, TEXT]})
    (record,) = [record for record in caplog.records if record.getMessage() == "request"]
    assert (record.method, record.path, record.status, record.rows) == ("POST", PREDICT, 200, 2)
    assert record.milliseconds > 0
    assert TEXT not in caplog.text


def test_the_process_lives_while_its_model_loads(tmp_path):
    (tmp_path / "ja-en").mkdir()
    with TestClient(Server(tmp_path / "ja-en", Settings()).app()) as client:
        assert client.get("/healthz").status_code == 503
        assert client.get("/livez").status_code == 200


@pytest.mark.parametrize("path", [PREDICT, "/v1/models/ja-en"])
def test_methods_of_a_path_are_told(client, path):
    methods = "POST, OPTIONS" if path == PREDICT else "GET, HEAD, OPTIONS"
    response = client.options(path)
    assert (response.status_code, response.headers["allow"]) == (204, methods)
    refused = client.delete(path)
    assert (refused.status_code, refused.headers["allow"]) == (405, methods)


def test_other_origins_may_ask_only_if_they_are_named(echo, client, open_client):
    origin = {"Origin": "https://a.example"}
    assert "access-control-allow-origin" not in client.get("/healthz", headers=origin).headers
    with open_client(echo, cors_origin="https://a.example") as other_client:
        asked = {
            **origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        }
        allowed = other_client.options(PREDICT, headers=asked)
        assert allowed.status_code == 200
        assert "POST" in allowed.headers["access-control-allow-methods"]
        answer = other_client.post(PREDICT, json={"instances": [TEXT]}, headers=origin)
        assert answer.headers["access-control-allow-origin"] == "https://a.example"
        other = {"Origin": "https://b.example"}
        assert "access-control-allow-origin" not in other_client.get("/", headers=other).headers


def test_bodies_may_be_gzip_or_begin_with_a_byte_order_mark(client):
    body = json.dumps({"instances": [TEXT]}).encode()
    packed = client.post(PREDICT, content=gzip.compress(body), headers={"Content-Encoding": "gzip"})
    marked = client.post(PREDICT, content=b"\xef\xbb\xbf" + body)
    assert packed.json() == marked.json() == {"predictions": [f"1: {TEXT}"]}


def test_a_proxy_may_offer_the_server_under_a_path(echo, start_server):
    with start_server(echo, "--root-path", "/translate/") as (_, url):
        answer = httpx.post(url + PREDICT, json={"instances": [TEXT]})
        assert answer.json() == {"predictions": [f"1: {TEXT}"]}
        assert httpx.get(f"{url}/page/page.js").status_code == 200
        assert httpx.get(f"{url}/v1/nothing").json()["error"].endswith("GET /v1/nothing")


def test_before_a_version_is_loaded_the_server_says_so(tmp_path):
    folder = tmp_path / "ja-en"
    folder.mkdir()
    with TestClient(Server(folder, Settings()).app()) as client:
        assert client.get("/healthz").status_code == 503
        page = client.get("/page/settings.json")
        assert (page.status_code, page.headers["retry-after"]) == (503, "1")
        response = client.post(PREDICT, json={"instances": [TEXT]})
        assert response.status_code == 404
        assert "Servable not found" in response.json()["error"]
        assert client.get("/v1/models/ja-en").status_code == 404


def test_a_version_that_is_broken_is_shown_and_the_one_below_is_served(echo, wait_until):
    (echo / "2").mkdir()
    (echo / "2" / "saved_model.pb").write_bytes(b"no model")
    with TestClient(Server(echo, Settings()).app()) as client:
        wait_until(lambda: client.get("/healthz").status_code == 200)
        assert client.get("/healthz").json()["models"] == {"ja-en": 1}
        second, first = client.get("/v1/models/ja-en").json()["model_version_status"]
        assert (second["version"], second["state"]) == ("2", "END")
        assert second["status"]["error_message"]
        assert first["state"] == "AVAILABLE"
