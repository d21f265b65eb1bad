"""The layers are imported with the package, and on first use in a command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from quickest_backend import QUICKEST_BACKEND

import keras_attn
from keras_attn.started import is_command

TRAIN = Path(__file__).parents[1] / "train.py"
IN_A_COMMAND = """
import sys
sys.argv[0] = "/usr/bin/keras-attn"
import keras_attn
assert keras_attn.__version__ and "keras" not in sys.modules
layer = keras_attn.PositionalEncoding()
from keras_attn import *
print(isinstance(layer, PositionalEncoding), "Transformer" in dir(keras_attn))
"""
IN_A_PROGRAM = """
from keras_attn.softmax import masked_softmax
import keras
print(keras.saving.get_registered_object("keras_attn>Transformer").__name__)
"""
WITHOUT_BACKEND = """
import sys
sys.modules["tensorflow"] = None  # as if it were not installed
try:
    import keras_attn
except ImportError as error:
    print(error)
"""


def run(code, backend=QUICKEST_BACKEND):
    environment = {**os.environ, "KERAS_BACKEND": backend}
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


@pytest.mark.parametrize(
    ("argv", "original", "expected"),
    [
        (["-m", "translate"], ["python", "-m", "keras_attn.translation", "translate"], True),
        (["-m"], ["python", "-X", "dev", "-m", "keras_attn"], True),
        (["-m", "keras_attn"], ["python", "-m", "own.tool", "keras_attn"], False),
        (["-m"], ["python", "-m", "keras_attn_data"], False),
        (["/venv/bin/keras-attn", "serve"], ["python", "/venv/bin/keras-attn", "serve"], True),
        ([str(TRAIN)], ["python", str(TRAIN)], True),
        (["/elsewhere/train.py"], ["python", "train.py"], False),
        (["-c"], ["python", "-c", "import keras_attn"], False),
        ([""], ["python"], False),
        ([], ["python"], False),
    ],
)
def test_commands_are_told_from_programs(monkeypatch, argv, original, expected):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", original)
    assert is_command() is expected


def test_a_command_imports_the_layers_on_first_use():
    assert run(IN_A_COMMAND) == ["True", "True"]


def test_a_program_has_all_layers_registered_whatever_it_imports_first():
    assert run(IN_A_PROGRAM) == ["Transformer"]


def test_unknown_names_are_attribute_errors():
    assert not hasattr(keras_attn, "NoSuchLayer") and not hasattr(keras_attn, "_private")


def test_a_missing_backend_is_named_in_one_sentence():
    sentence = " ".join(run(WITHOUT_BACKEND, backend="tensorflow"))
    assert sentence.startswith("Keras runs on `tensorflow`, which is not installed: ")
