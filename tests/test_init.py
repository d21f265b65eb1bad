"""The layers are imported with the package, on first use in a command, and bring nothing else."""

import re
import sys

from processes import ROOT, run
from quickest_backend import QUICKEST_BACKEND

import keras_attn

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


def printed(code, backend=QUICKEST_BACKEND):
    ended = run([sys.executable, "-c", code], KERAS_BACKEND=backend)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_layers_come_on_first_use_in_a_command_all_at_once_in_a_program_and_bring_nothing():
    assert printed(COMMAND_THEN_PROGRAM) == "[]\n"


def test_unknown_names_are_attribute_errors():
    assert not hasattr(keras_attn, "NoSuchLayer") and not hasattr(keras_attn, "_private")


def test_a_missing_backend_is_named_in_one_sentence():
    sentence = printed(WITHOUT_BACKEND, backend="tensorflow")
    assert sentence.startswith("Keras runs on `tensorflow`, which is not installed: ")


def test_the_layers_name_no_backend():
    folder = ROOT / "keras_attn"
    imported = r"^ *(import|from) (tensorflow|jax|torch|keras_attn\.translation)\b"
    commands = {folder / "__main__.py", folder / "quiet.py"}
    for path in {*folder.glob("*.py"), *folder.glob("layers/*.py")} - commands:
        assert not re.search(imported, path.read_text(encoding="utf-8"), re.MULTILINE), path
