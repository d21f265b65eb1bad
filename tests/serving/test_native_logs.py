import json
import subprocess
import sys

import pytest

from keras_attn.serving import native_logs
from keras_attn.serving.native_logs import records


@pytest.mark.parametrize(
    ("line", "level", "message"),
    [
        (b"W0000 00:00:1795691878.69 19504 a.cc:31] No CUDA.", "WARNING", "No CUDA."),
        (b"2026-11-26 10:00:00.1: I tensorflow/a.cc:1] text", "INFO", None),
        ("\x1b[31m赤い\x1b[0m文字".encode(), "INFO", "赤い文字"),
        (b"\xff no text", "INFO", "\ufffd no text"),
        (b"F0000 00:00:1 2 a.cc:3] Check failed: a == b", "CRITICAL", "Check failed: a == b"),
    ],
)
def test_each_line_becomes_an_object(line, level, message):
    (record,) = map(json.loads, records([line + b"\n", b"\n"]))
    assert (record["level"], record["logger"]) == (level, "native")
    assert record["message"] == (message or line.decode())


def test_the_program_reads_to_the_end():
    command = [sys.executable, native_logs.__file__]
    said = subprocess.run(command, input=b"one\ntwo", capture_output=True, check=True).stdout
    assert [json.loads(line)["message"] for line in said.splitlines()] == ["one", "two"]
