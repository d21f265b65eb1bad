"""A server that listens: where, and how it stops."""

import concurrent.futures
import signal
import socket
import time

import httpx2 as httpx
import pytest

from keras_attn.serving.__main__ import main
from keras_attn.serving.running import run
from keras_attn.serving.settings import Settings


def test_sigterm_ends_the_server_after_the_requests_that_have_begun(echo, start_server):
    # Each waits for company half a second, so they are under way when the signal comes.
    with start_server(echo, "--batch-wait", "0.5") as (process, url):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            bodies = [{"instances": [str(number)]} for number in range(4)]
            asked = [
                pool.submit(httpx.post, f"{url}/v1/models/ja-en:predict", json=body)
                for body in bodies
            ]
            time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            answers = [one.result() for one in asked]
        assert [one.json()["predictions"] for one in answers] == [[f"1: {n}"] for n in range(4)]
        assert {one.headers["connection"] for one in answers} == {"close"}
        assert process.wait(30) in (0, -signal.SIGTERM)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/healthz")


def test_after_sigterm_requests_on_their_way_are_answered_and_connections_closed(
    echo, start_server
):
    body = {"instances": ["a"]}
    with start_server(echo) as (process, url), httpx.Client(base_url=url) as client:
        assert "connection" not in client.post("/v1/models/ja-en:predict", json=body).headers
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        answer = client.post("/v1/models/ja-en:predict", json=body)
        assert answer.json() == {"predictions": ["1: a"]}
        assert answer.headers["connection"] == "close"
        assert process.wait(30) in (0, -signal.SIGTERM)


def test_the_folder_of_one_version_is_refused_with_the_one_to_give(echo):
    with pytest.raises(ValueError, match="must be the folder of the versions") as refused:
        run(echo / "1", Settings())
    assert str(refused.value).endswith(f"Use {echo.resolve()}.")


def test_a_port_that_is_taken_is_said_in_a_sentence(echo, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main([str(echo), "--port", str(port)]) == 2
    assert "Address already in use" in capsys.readouterr().err
