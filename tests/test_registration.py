"""`import keras_attn` does not import Keras, and Keras still finds the layers."""

import os
import subprocess
import sys

import keras

import keras_attn

LOADS_A_MODEL = """
import sys
import keras_attn
assert "keras" not in sys.modules
assert keras_attn.__version__
import keras
assert keras.__spec__.loader is keras.__loader__
finders = [type(finder).__name__ for finder in sys.meta_path]
print(finders.count("_KerasFinder"), keras.saving.load_model(sys.argv[1]).count_params())
"""
USES_A_LAYER = """
import keras_attn
layer = keras_attn.PositionalEncoding()
from keras_attn import *
print(isinstance(layer, PositionalEncoding), "Transformer" in dir(keras_attn))
"""
WITHOUT_BACKEND = """
import sys
sys.modules["tensorflow"] = None  # as if it were not installed
try:
    from keras_attn import MultiHeadAttention
except ImportError as error:
    print(error)
"""


def run(code, *arguments, backend="numpy"):  # the one that is imported fastest
    environment = {**os.environ, "KERAS_BACKEND": backend}
    result = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_a_saved_model_loads_after_import_of_keras_attn_and_keras(tmp_path):
    inputs = keras.Input((3, 8))
    attention = keras_attn.MultiHeadAttention(num_hiddens=8, num_heads=2)
    model = keras.Model(inputs, attention(inputs, inputs))
    path = tmp_path / "model.keras"
    model.save(path)
    assert run(LOADS_A_MODEL, path) == ["0", str(model.count_params())]


def test_a_layer_can_be_used_without_import_of_keras():
    assert run(USES_A_LAYER) == ["True", "True"]


def test_unknown_names_are_attribute_errors():
    assert not hasattr(keras_attn, "NoSuchLayer") and not hasattr(keras_attn, "_private")


def test_a_missing_backend_is_named_in_one_sentence():
    sentence = " ".join(run(WITHOUT_BACKEND, backend="tensorflow"))
    assert sentence.startswith("Keras runs on `tensorflow`, which is not installed: ")
