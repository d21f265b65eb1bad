"""The layers are imported with the package, on first use in a command, and bring nothing else."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from quickest_backend import QUICKEST_BACKEND

import keras_attn
from keras_attn.started import is_command

ROOT = Path(__file__).parents[1]
TRAIN = str(ROOT / "train.py")
COMMAND_THEN_PROGRAM = """
import sys
sys.argv[0] = "/usr/bin/keras-attn"
import keras_attn
assert keras_attn.__version__ and "keras" not in sys.modules
import keras
of_keras = set(sys.modules)
layer = keras_attn.PositionalEncoding()
from keras_attn import *
assert isinstance(layer, PositionalEncoding) and "Transformer" in dir(keras_attn)
for name in [name for name in sys.modules if name.startswith("keras_attn")]:
    del sys.modules[name]
sys.argv[0] = "own_program.py"
from keras_attn.layers.softmax import masked_softmax
registered = keras.saving.get_registered_object("keras_attn>Transformer")
assert registered is not Transformer and registered.__name__ == "Transformer"
# Keras itself imports matplotlib where it is installed; the layers must not.
print(sorted({"tensorflow_datasets", "sentencepiece", "matplotlib", "sacrebleu",
    "keras_attn.translation", "keras_attn.plots.heat_maps"} & set(sys.modules) - of_keras))
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
    return ended.stdout


@pytest.mark.parametrize(
    ("argv", "original", "expected"),
    [
        (["-m", "translate"], ["python", "-m", "keras_attn.translation", "translate"], True),
        (["-m"], ["python", "-X", "dev", "-m", "keras_attn"], True),
        (["-m", "keras_attn"], ["python", "-m", "own.tool", "keras_attn"], False),
        (["-m"], ["python", "-m", "keras_attn_data"], False),
        (["/venv/bin/keras-attn", "serve"], ["python", "/venv/bin/keras-attn", "serve"], True),
        ([TRAIN], ["python", TRAIN], True),
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


def test_layers_come_on_first_use_in_a_command_all_at_once_in_a_program_and_bring_nothing():
    assert run(COMMAND_THEN_PROGRAM) == "[]\n"


def test_unknown_names_are_attribute_errors():
    assert not hasattr(keras_attn, "NoSuchLayer") and not hasattr(keras_attn, "_private")


def test_a_missing_backend_is_named_in_one_sentence():
    sentence = run(WITHOUT_BACKEND, backend="tensorflow")
    assert sentence.startswith("Keras runs on `tensorflow`, which is not installed: ")


def test_the_layers_name_no_backend():
    folder = ROOT / "keras_attn"
    # The commands are those of translator and server.
    for path in {*folder.glob("*.py")} - {folder / "__main__.py"}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] not in ("tensorflow", "jax", "torch"), path
                assert not name.startswith("keras_attn.translation"), path
