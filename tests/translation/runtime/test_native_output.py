import json
from pathlib import Path

from processes import run_python

import keras_attn
from keras_attn.translation.runtime.native_output import records

FOLDER = Path(keras_attn.__file__).parent / "translation" / "runtime"
# By its folder: the package would import TensorFlow, which prints lines of its own.
CODE = """
import os, sys
sys.path.insert(0, {folder!r})
import native_output
with native_output.suppress_native_stderr():
    os.write(2, b"E0000 a.cc:3] native\\n")
    print("of Python", file=sys.stderr)
    {last}
os.write(2, b"after\\n")
"""


def said(last):
    ended = run_python("-c", CODE.format(folder=str(FOLDER), last=last), may_fail=True)
    return ended.returncode, ended.stdout + ended.stderr


def test_output_of_a_block_that_succeeds_or_is_ended_on_purpose_is_hidden():
    assert said("pass") == (0, "after\n")
    for last in ("sys.exit(3)", "raise KeyboardInterrupt"):
        returncode, text = said(last)
        assert returncode and "native" not in text


def test_output_of_a_block_that_fails_or_crashes_is_shown():
    for last in ("raise ValueError('x')", "os.abort()", "os.kill(os.getpid(), 9)"):
        returncode, text = said(last)
        assert returncode and "E0000 a.cc:3] native\nof Python\n" in text
        assert "after" not in text


def test_the_level_of_a_native_line_is_read_and_colours_are_left_out():
    for line, level, message in (
        (b"W0000 00:00:1795691878.69 19504 a.cc:31] No CUDA.", "WARNING", "No CUDA."),
        (b"2026-11-26 10:00:00.1: I tensorflow/a.cc:1] text", "INFO", None),
        ("\x1b[31m赤い\x1b[0m文字".encode(), "INFO", "赤い文字"),
        (b"\xff no text", "INFO", "\ufffd no text"),
        (b"F0000 00:00:1 2 a.cc:3] Check failed: a == b", "CRITICAL", "Check failed: a == b"),
    ):
        (record,) = map(json.loads, records([line + b"\n", b"\n"]))
        assert (record["level"], record["logger"]) == (level, "native")
        assert record["message"] == (message or line.decode())
