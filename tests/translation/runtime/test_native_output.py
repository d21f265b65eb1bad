from pathlib import Path

from processes import run_python

import keras_attn

FOLDER = Path(keras_attn.__file__).parent / "translation" / "runtime"
# By its folder: the package would import TensorFlow, which prints lines of its own.
CODE = """
import os, sys
sys.path.insert(0, {folder!r})
import native_output
with native_output.hidden():
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
