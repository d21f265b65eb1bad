import importlib.util
from pathlib import Path

import pytest
import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.versions import CONFIG, EXTRA

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def script(request):
    """The example of a file of tests, imported."""
    name = request.path.stem.removeprefix("test_")
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.fixture(scope="session")
def save_translator():
    """`save_translator(version, signature, function)`: what has the form of an exported translator.

    The function answers a tensor of texts at once, where a model would have to be traced and
    compiled for half a minute.
    """

    def save_translator(version, signature, function):
        text = tf.TensorSpec((None,), tf.string, name="text")
        traced = tf.function(function, input_signature=[text]).get_concrete_function()
        tf.saved_model.save(tf.Module(), str(version), {signature: traced})
        (version / EXTRA).mkdir()
        Config().save(version / EXTRA / CONFIG)

    return save_translator
