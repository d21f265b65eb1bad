"""`python -m keras_attn.serving` from the shell: how it starts, what it says, how it stops."""

import concurrent.futures
import json
import signal
import socket
import subprocess
import time

import httpx2 as httpx
import pytest

from keras_attn.serving.__main__ import main


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
            answers = [one.result().json()["predictions"] for one in asked]
        assert answers == [[f"1: {number}"] for number in range(4)]
        assert process.wait(30) in (0, -signal.SIGTERM)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/healthz")


def test_logs_are_lines_of_json(echo, start_server):
    with start_server(echo, stderr=subprocess.PIPE) as (process, url):
        httpx.get(f"{url}/v1/models/ja-en")
        process.terminate()
        said = process.stderr.read().splitlines()
    lines = [json.loads(line) for line in said if line.startswith("{")]  # others: TensorFlow's own
    by_message = {line["message"]: line for line in lines}
    assert by_message["A version is served."]["version"] == 1
    assert by_message["request"]["status"] == 200
    assert {"time", "level", "logger"} <= by_message["request"].keys()


@pytest.mark.parametrize(
    ("folder", "options", "says"),
    [
        ("nothing", (), "must be a folder"),
        ("empty", (), "no exported model"),
        ("echo", ("--batch-rows", "0"), "`batch_rows` must be a whole number of at least 1"),
        ("echo/1", (), "must be the folder of the versions"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(echo, capsys, folder, options, says):
    (echo / "empty").mkdir()
    path = {"echo": echo, "echo/1": echo / "1"}.get(folder, echo / folder)
    assert main([str(path), *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert says in error


def test_a_port_that_is_taken_is_said_in_a_sentence(echo, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main([str(echo), "--port", str(port)]) == 2
    assert "Address already in use" in capsys.readouterr().err
