"""`python -m keras_attn.serving` from the shell: what it says."""

import json
import subprocess

import httpx2 as httpx
import pytest

from keras_attn.serving.__main__ import main, parse_arguments


def test_logs_are_lines_of_json(echo, start_server):
    with start_server(echo, stderr=subprocess.PIPE) as (process, url):
        httpx.get(f"{url}/v1/models/ja-en")
        process.terminate()
        said = process.stderr.read().splitlines()
    lines = list(map(json.loads, said))
    assert "\\u001b" not in "".join(said)  # no colour codes
    by_message = {line["message"]: line for line in lines}
    assert by_message["A version is served."]["version"] == 1
    assert by_message["request"]["status"] == 200
    assert {"time", "level", "logger"} <= by_message["request"].keys()
    assert not [line for line in lines if line["logger"] == "native"]


def test_options_may_be_environment_variables(echo, monkeypatch, capsys):
    monkeypatch.setenv("KERAS_ATTN_BATCH_ROWS", "7")
    monkeypatch.setenv("KERAS_ATTN_HOST", "0.0.0.0")
    arguments = parse_arguments([str(echo), "--host", "::1"])
    assert (arguments.batch_rows, arguments.host) == (7, "::1")
    monkeypatch.setenv("KERAS_ATTN_PORT", "many")
    with pytest.raises(SystemExit):
        parse_arguments([str(echo)])
    assert "--port: invalid int value: 'many'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("folder", "options", "says"),
    [
        ("nothing", (), "must be a folder"),
        ("empty", (), "no exported model"),
        ("echo", ("--batch-rows", "0"), "`batch_rows` must be a whole number of at least 1"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(echo, capsys, folder, options, says):
    (echo / "empty").mkdir()
    path = echo if folder == "echo" else echo / folder
    assert main([str(path), *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert says in error
