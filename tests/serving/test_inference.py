"""Limits that hold for requests of all protocols."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from keras_attn.serving.app import Server
from keras_attn.serving.settings import Settings

TEXT = "昨日、友達と映画を見ました。"
PREDICT = "/v1/models/ja-en:predict"


@pytest.fixture
def client(echo, open_client):
    limits = {"max_body": 20_000, "max_rows": 20, "max_characters": 300, "queue_rows": 20}
    with open_client(echo, **limits) as client:
        yield client


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"instances": ["あ"] * 21}, "at most 20 texts. Received: 21"),
        ({"instances": ["あ" * 301]}, "at most 300 characters. Received: 301"),
        ({"instances": ["あ" * 6700]}, "at most 20000 bytes"),
    ],
)
def test_too_much_is_refused_with_the_limit(client, body, says):
    text = json.dumps(body, ensure_ascii=False).encode()
    response = client.post(PREDICT, content=text)
    assert response.status_code == 413
    assert says in response.json()["error"]


def test_an_answer_that_takes_too_long_is_not_waited_for(echo, wait_until):
    settings = Settings(batch_wait=30.0, max_seconds=0.2)  # it waits for company that never comes
    with TestClient(Server(echo, settings).app()) as client:
        wait_until(lambda: client.get("/healthz").status_code == 200)
        response = client.post(PREDICT, json={"instances": [TEXT]})
    assert response.status_code == 504
    assert "longer than 0.2 seconds" in response.json()["error"]


def test_a_full_queue_is_answered_503_with_the_time_to_try_again(echo, wait_until):
    settings = Settings(batch_wait=1.0, queue_rows=3, max_rows=3)
    with TestClient(Server(echo, settings).app()) as client, ThreadPoolExecutor() as pool:
        wait_until(lambda: client.get("/healthz").status_code == 200)
        waiting = pool.submit(client.post, PREDICT, json={"instances": [TEXT] * 2})
        wait_until(lambda: "keras_attn_queue_rows 2.0" in client.get("/metrics").text)
        refused = client.post(PREDICT, json={"instances": [TEXT] * 2})
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) >= 1
        assert "busy" in refused.json()["error"]
        assert waiting.result().json() == {"predictions": [f"1: {TEXT}"] * 2}
