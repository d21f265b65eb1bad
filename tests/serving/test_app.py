"""The server, as its callers see it."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor

import httpx2 as httpx
from prometheus_client.parser import text_string_to_metric_families

from keras_attn.serving import app, website
from keras_attn.serving.inference import Inference
from keras_attn.translation.config import Config

TEXT = "昨日、友達と映画を見ました。"
PREDICT = "/v1/models/ja-en:predict"


def test_status_metadata_and_predictions_by_any_form_of_their_paths(client):
    for path in ("/v1/models/ja-en", "/v1/Models/ja%2Den/Versions/1"):
        (version,) = client.get(path).json()["model_version_status"]
        assert (version["version"], version["state"]) == ("1", "AVAILABLE")
    assert client.head("/v1/models/ja-en").status_code == 200
    for path in ("/v1/models/ja-en/metadata", "/v1/models/ja-en/versions/1/metadata"):
        found = client.get(path).json()
        assert found["model_spec"]["version"] == "1"
        signatures = found["metadata"]["signature_def"]["signature_def"]
        outputs, flags = signatures["nbest"]["outputs"], {"is_uncertain", "is_other_language"}
        assert outputs.keys() == {"translations", "scores", *flags}
        assert {outputs[flag]["dtype"] for flag in flags} == {"DT_BOOL"}
        assert signatures["glossary"]["inputs"].keys() == {"text", "term", "term_translation"}
    for path in (PREDICT, "/v1/Models/ja%2Den/Versions/1:Predict"):
        for body in ({"instances": ["a"]}, {"instances": ["a"], "signature_name": ""}):
            assert client.post(path, json=body).json() == {"predictions": ["1: a"]}


def test_freed_memory_is_returned_again_and_again(served, open_client, wait_until, monkeypatch):
    returned = []
    monkeypatch.setattr(app, "MEMORY_SECONDS", 0.02)
    monkeypatch.setattr(app.allocator, "return_freed_memory", lambda: returned.append(True))
    with open_client(served) as client:
        wait_until(lambda: len(returned) >= 3)
        assert client.get("/healthz").status_code == 200


def test_a_request_with_a_glossary_is_translated_with_it(client):
    texts, terms = ["木村と田中", "田中と東京"], {"木村": "Kimura", "田中": "Tanaka"}
    expected = ["1: KimuraとTanaka", "1: Tanakaと東京"]
    for rows in (texts, [{"text": text} for text in texts]):
        answer = client.post(PREDICT, json={"instances": rows, "glossary": terms})
        assert answer.json() == {"predictions": expected}
    for columns in (texts, {"text": texts}):
        answer = client.post(PREDICT, json={"inputs": columns, "glossary": terms})
        assert answer.json() == {"outputs": expected}

    def said(glossary, text="a", **signature):
        body = {"instances": [text], "glossary": glossary, **signature}
        return client.post(PREDICT, json=body).json()["predictions"]

    # In the order of the terms, and up to their limits.
    assert said({"a": "b", "b": "c", "b64": ""}) == ["1: c"]
    assert said({"b": "c", "a": "b"}) == ["1: b"]
    most = {**{f"{n:02}": "x" for n in range(99)}, "犬" * 100: "D" * 100}
    assert said(most, "犬" * 100) == [f"1: {'D' * 100}"]
    for name in ("", "serving_default", "glossary"):
        assert said({"a": "A"}, signature_name=name) == ["1: A"]
    assert said({}, signature_name="nbest")[0]["translations"][0] == "1: a"
    for number in (0, 1, 30):  # more terms than texts, and fewer
        terms = [f"term{i:02}" for i in range(number)]
        inputs = {"text": ["a term00", "b"], "term": terms, "term_translation": ["T"] * number}
        answer = client.post(PREDICT, json={"signature_name": "glossary", "inputs": inputs})
        assert answer.json() == {"outputs": ["1: a T" if number else "1: a term00", "1: b"]}


def test_whatever_text_reaches_the_model_as_it_was_given(client):
    texts = [
        "\n\n".join(f"{n}行目です。" for n in range(20)),
        "一行目。\r\n\r\n三行目。\r\n",
        "表\t一\t二\n\t三",
        "👩‍👩‍👧 と 🇯🇵 と 👍🏽",
        "詳しくは https://example.com/a?b=c&d=%E7%8A%AC#e へ。",
        " \n \n",
        "𠮷" * 300,
        "<script>alert(1)</script> <img src=x onerror=alert(1)> '; DROP TABLE models; --",
        "{{7*7}} ${7*7} %s %n $(reboot) `reboot` ../../../etc/passwd",
        "\u202e\u2066\u0000\u001b[31m\ufeff",
    ]
    terms = {"term": ["<not there>"], "term_translation": ["x"]}
    for signature, more in {"serving_default": {}, "nbest": {}, "glossary": terms}.items():
        inputs = {"text": texts, **more}
        response = client.post(PREDICT, json={"signature_name": signature, "inputs": inputs})
        found = response.json()["outputs"]
        if signature == "nbest":
            found = [translations[0] for translations in found["translations"]]
        assert found == [f"1: {text}" for text in texts]
        assert response.headers["content-type"] == "application/json"
        assert response.headers["x-content-type-options"] == "nosniff"


def test_an_answer_that_takes_too_long_is_not_waited_for(served, open_client):
    # It waits for company that never comes.
    with open_client(served, batch_wait=30.0, max_seconds=0.2) as client:
        response = client.post(PREDICT, json={"instances": [TEXT]})
    assert response.status_code == 504 and "longer than 0.2 seconds" in response.json()["error"]


def test_a_full_queue_is_answered_503_with_the_time_to_try_again(served, open_client, wait_until):
    settings = {"batch_wait": 30.0, "batch_rows": 3, "queue_rows": 3, "max_rows": 3}
    with open_client(served, **settings) as client, ThreadPoolExecutor() as pool:
        waiting = pool.submit(client.post, PREDICT, json={"instances": [TEXT] * 2})
        wait_until(lambda: "keras_attn_queue_rows 2.0" in client.get("/metrics").text)
        refused = client.post(PREDICT, json={"instances": [TEXT] * 2})
        assert refused.status_code == 503 and "busy" in refused.json()["error"]
        assert int(refused.headers["retry-after"]) >= 1
        # This one has just room, and the batch is full.
        assert client.post(PREDICT, json={"instances": [TEXT]}).status_code == 200
        assert waiting.result().json() == {"predictions": [f"1: {TEXT}"] * 2}


def test_metrics_and_logs_count_and_never_show_texts(served, open_client, caplog, monkeypatch):
    caplog.set_level("INFO")
    terms = {f"term{n}": "T" for n in range(50)}  # they are not rows
    with open_client(served) as client:
        client.post(PREDICT, json={"instances": [TEXT, TEXT], "glossary": terms})
        client.post(PREDICT, content=b"?")
        for path in ("/", "/a/path/of/nobody", "/healthz", "/livez", "/metrics"):
            assert client.get(path).headers["x-content-type-options"] == "nosniff"

        async def fail(*arguments):
            raise RuntimeError("secret")

        monkeypatch.setattr(Inference, "answer", fail)
        failed = client.post(PREDICT, json={"instances": [TEXT]})
        assert failed.status_code == 500 and failed.json().keys() == {"error"}
        assert "secret" not in failed.text and "RuntimeError: secret" in caplog.text
        response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    samples = {
        (sample.name, sample.labels.get("kind"), sample.labels.get("status")): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }
    counted = {" ".join(rest): n for (name, *rest), n in samples.items() if "requests_t" in name}
    assert counted.pop("/healthz 200") >= 1 and counted.pop("/healthz 503", 0) >= 0
    each_once = "/v1/ 200|/v1/ 400|/v1/ 500|/ 200|other 404|/livez 200|/metrics 200"
    assert counted == dict.fromkeys(each_once.split("|"), 1)
    assert samples["keras_attn_request_seconds_count", "/v1/", None] == 3
    assert 0 < samples["keras_attn_request_seconds_sum", "/v1/", None] < 60
    assert samples["keras_attn_batch_rows_sum", None, None] == 2
    assert samples["keras_attn_model_version", None, None] == 1
    assert samples["keras_attn_queue_rows", None, None] == 0
    assert samples["process_resident_memory_bytes", None, None] > 1e6

    logged = [one for one in caplog.records if one.getMessage() == "request"]
    logged = [one for one in logged if one.status != 503]  # until the model was loaded
    assert (logged[0].method, logged[0].path, logged[0].status) == ("POST", PREDICT, 200)
    assert logged[0].rows == 2 and logged[0].milliseconds > 0
    # Probes are not logged.
    assert {one.path for one in logged} == {PREDICT, "/", "/a/path/of/nobody"}
    assert TEXT not in caplog.text and "term1" not in caplog.text


def test_methods_of_a_path_are_told(client):
    others = (PREDICT, "/v1/models/ja-en/versions/1:predict", "/v1/models/ja-en/metadata")
    for path in ("/v1/models/ja-en", *others):
        methods = "POST, OPTIONS" if "predict" in path else "GET, HEAD, OPTIONS"
        for response, status in ((client.options(path), 204), (client.delete(path), 405)):
            assert (response.status_code, response.headers["allow"]) == (status, methods)


def test_other_origins_may_ask_only_if_they_are_named(served, client, open_client):
    allowed = "access-control-allow-origin"
    origin, other = {"Origin": "https://a.example"}, {"Origin": "https://b.example"}
    assert allowed not in client.get("/healthz", headers=origin).headers
    with open_client(served, cors_origin="https://a.example") as client:
        wanted = "Access-Control-Request"
        asked = {f"{wanted}-Method": "POST", f"{wanted}-Headers": "content-type"}
        told = client.options(PREDICT, headers={**origin, **asked})
        assert told.status_code == 200
        assert "POST" in told.headers["access-control-allow-methods"]
        answer = client.post(PREDICT, json={"instances": [TEXT]}, headers=origin)
        assert answer.headers[allowed] == "https://a.example"
        assert allowed not in client.get("/", headers=other).headers


def test_bodies_may_be_gzip_or_begin_with_a_byte_order_mark(client):
    body = json.dumps({"instances": [TEXT]}).encode()
    two_members = gzip.compress(body[:7]) + gzip.compress(body[7:])  # are one content
    asked = [(packed, "gzip") for packed in (gzip.compress(body), two_members)]
    asked += [(two_members, "GZIP"), (two_members, "x-gzip"), (b"\xef\xbb\xbf" + body, "identity")]
    for content, name in asked:
        answer = client.post(PREDICT, content=content, headers={"Content-Encoding": name})
        assert answer.json() == {"predictions": [f"1: {TEXT}"]}


def test_a_proxy_may_offer_the_server_under_a_path(served, start_server):
    with start_server(served, root_path="/translate/") as url:
        answer = httpx.post(url + PREDICT, json={"instances": [TEXT]})
        assert answer.json() == {"predictions": [f"1: {TEXT}"]}
        assert httpx.get(f"{url}/page/page.js").status_code == 200
        assert httpx.get(f"{url}/v1/nothing").json()["error"].endswith("GET /v1/nothing")


def test_before_a_version_is_loaded_the_server_lives_and_says_so(tmp_path, open_client, caplog):
    caplog.set_level("INFO")
    (tmp_path / "ja-en").mkdir()
    with open_client(tmp_path / "ja-en", is_loaded=False) as client:
        paths = ("/livez", "/healthz", "/v1/models/ja-en")
        assert [client.get(path).status_code for path in paths] == [200, 503, 404]
        for path in ("/v2/health/ready", "/v2/models/ja-en/ready"):
            assert client.get(path).status_code == 503
        paths = [one.path for one in caplog.records if one.getMessage() == "request"]
        assert paths == ["/v1/models/ja-en"]  # probes are not logged
        page = client.get("/page/settings.json")
        assert (page.status_code, page.headers["retry-after"]) == (503, "1")
        response = client.post(PREDICT, json={"instances": [TEXT]})
        assert response.status_code == 404 and "Servable not found" in response.json()["error"]


def test_the_page_loads_nothing_from_elsewhere_and_is_told_of_the_model(
    client, examples, monkeypatch
):
    monkeypatch.setattr(website, "metadata", lambda name: {"Home-page": "https://example.org/k"})
    for path in ("/", "/docs", "/page/page.js"):
        response = client.get(path)
        assert response.headers["cache-control"] == "no-cache"
        assert response.headers["x-content-type-options"] == "nosniff"
        if path != "/page/page.js":
            assert response.headers["content-type"].startswith("text/html")
            assert "default-src 'self'" in response.headers["content-security-policy"]
    model = {"name": "ja-en", "version": 1, "source": "ja", "target": "en", "models": ["ja-en"]}
    limits = {"max_characters": 300, "max_length": Config().max_length, "can_stream": True}
    facts = {"Trained on": Config().data, "Layers": "4 of the encoder, 2 of the decoder"}
    facts |= {"Width": "256, with 4 heads", "Search": "beam of 4", "Precision": "float32"}
    links = {"keras_attn": "https://example.org/k", "Tutorials": "https://example.org/k#learn"}
    told = {**model, **limits, "can_follow": True, "facts": facts, "examples": examples}
    told |= {"links": links}
    assert client.get("/page/settings.json").json() == told
