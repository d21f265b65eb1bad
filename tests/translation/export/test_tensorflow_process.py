import os

import pytest
from processes import run_python

from keras_attn.translation.export import tensorflow_process

ON_JAX = """
import os
from keras_attn.translation.export import tensorflow_process
from keras_attn.translation.runtime import native_output
if __name__ == "__main__":
    with native_output.suppress_native_stderr():
        import keras
    print(tensorflow_process.call(os.getpid) != os.getpid())
    print(tensorflow_process.call(os.getpid) == tensorflow_process.call(os.getpid))
    print(tensorflow_process.call(keras.backend.backend), keras.backend.backend())
    try:
        tensorflow_process.call(int, "x")
    except ValueError as error:
        print(error)
    try:
        tensorflow_process.call(os._exit, 1)
    except OSError as error:
        print(error)
"""


def test_on_tensorflow_the_function_runs_here():
    assert tensorflow_process.call(os.getpid) == os.getpid()


@pytest.mark.slow
def test_on_jax_the_function_runs_in_one_process_with_tensorflow(tmp_path):
    pytest.importorskip("jax")
    script = tmp_path / "keras-attn.py"  # a command imports Keras with its output hidden
    script.write_text(ON_JAX)
    ended = run_python(script, KERAS_BACKEND="jax")
    assert not ended.stderr
    assert ended.stdout.splitlines() == [
        "True",
        "True",
        "tensorflow jax",
        "invalid literal for int() with base 10: 'x'",
        "The process with TensorFlow has ended, perhaps for lack of memory.",
    ]
