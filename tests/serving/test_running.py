"""The process `python -m keras_attn.serving`: what it says, where it listens, and how it stops."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx2 as httpx
import pytest

from keras_attn.__main__ import main
from keras_attn.cli import parse
from keras_attn.serving.__main__ import add_serve
from keras_attn.serving.logs import written_to_stderr

PREDICT = "/v1/models/linked:predict"


def test_after_sigterm_requests_under_way_are_answered_and_logs_are_json(
    served, tmp_path, free_port, wait_until
):
    (tmp_path / "linked").symlink_to(served)
    # Four requests wait for a fifth, so they are under way when the signal comes.
    options = f"--port {free_port()} --batch-wait 60 --batch-rows 5".split()
    command = [sys.executable, "-m", "keras_attn.serving", tmp_path / "linked", *options]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["KERAS_ATTN_GRPC_PORT"] = "tcp://10.0.0.1:8500"  # of Kubernetes, no setting
    url, streams = f"http://127.0.0.1:{options[1]}", {"stdin": subprocess.DEVNULL}
    with open("/dev/full", "wb") as full:  # writing to it fails as on a full disk
        streams |= {"stdout": full, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, env=environment, **streams)
    with process, ThreadPoolExecutor(4) as pool:
        try:

            def is_ready():
                with suppress(httpx.TransportError):
                    return httpx.get(f"{url}/healthz").status_code == 200

            wait_until(is_ready)
            assert httpx.get(f"{url}/healthz").json()["models"] == {"linked": 1}  # not the target
            process.send_signal(signal.SIGHUP)

            def ask(number, client=httpx):
                return client.post(url + PREDICT, json={"instances": [f"猫{number}"]}, timeout=60)

            with httpx.Client() as idle:
                assert "connection" not in idle.get(f"{url}/v1/models/linked").headers
                asked = [pool.submit(ask, number) for number in range(4)]
                wait_until(lambda: "keras_attn_queue_rows 4.0" in httpx.get(f"{url}/metrics").text)
                process.send_signal(signal.SIGTERM)
                # The server is told: each answer asks the client to go elsewhere.
                wait_until(lambda: httpx.get(f"{url}/livez").headers.get("connection") == "close")
                late = ask(4, idle)
            answers = [*(one.result() for one in asked), late]
            said = [one.json()["predictions"] for one in answers]
            assert said == [[f"1: 猫{number}"] for number in range(5)]
            assert {one.headers["connection"] for one in answers} == {"close"}
            assert process.wait(30) in (0, -signal.SIGTERM)
            with pytest.raises(httpx.ConnectError):
                httpx.get(f"{url}/healthz")
            said = process.stderr.read()
        finally:
            process.kill()
    lines = list(map(json.loads, said.splitlines()))
    assert "\\u001b" not in said and "猫" not in said  # no colour codes, no texts
    by_message = {line["message"]: line for line in lines}
    assert by_message["The address cannot be written."]["level"] == "WARNING"
    assert by_message["A version is served."]["version"] == 1
    assert by_message["request"]["status"] == 200
    assert {"time", "level", "logger"} <= by_message["request"].keys()
    assert not [line for line in lines if line["logger"] == "native"]


def test_the_address_is_written(served, start_server, capsys):
    with start_server(served) as url:
        assert capsys.readouterr().out == f"{url}/\n"


def test_lines_of_logs_and_of_native_code_are_objects(capfd):
    level = logging.getLogger().level
    with written_to_stderr():
        logging.getLogger("a.b").info("猫 %d", 3, extra={"rows": 2})
        os.write(2, b"E0000 00:00:1 2 a.cc:3] native\n")
    os.write(2, b"after\n")
    logging.getLogger().setLevel(level)
    said = capfd.readouterr().err.splitlines()
    said.remove("after")
    line, native = sorted(map(json.loads, said), key=lambda record: record["logger"])
    said_by = [(one["message"], one["level"], one["logger"]) for one in (line, native)]
    assert said_by == [("猫 3", "INFO", "a.b"), ("native", "ERROR", "native")]
    assert line["rows"] == 2
    assert any("猫" in text for text in said)  # readable, not escaped


def test_options_may_be_environment_variables(monkeypatch):
    monkeypatch.setenv("KERAS_ATTN_BATCH_ROWS", "7")
    monkeypatch.setenv("KERAS_ATTN_HOST", "0.0.0.0")
    _, given, _ = parse(["serve", "models", "--host", "::1"], (add_serve,))
    assert given == {"model": Path("models"), "batch_rows": 7, "host": "::1"}


def test_what_cannot_be_served_is_said_in_a_sentence(echo, capsys):
    (echo / "empty").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for says, path, *options in (
            ("must be a folder", echo / "nothing"),
            ("no exported model", echo / "empty"),
            ("must be the folder of the versions", echo / "1"),
            (f"Use {echo.resolve()}.", echo / "1"),
            ("`batch_rows` must be a whole number at least 1", echo, "--batch-rows", "0"),
            ("Address already in use", echo, "--port", port),
            ("Address already in use", echo, "--port", "0", "--grpc-port", port),
        ):
            assert main(["serve", str(path), *options]) == 2
            error = capsys.readouterr().err
            assert error.startswith("error: ") and says in error
