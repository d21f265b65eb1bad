import os
import subprocess
import sys

import pytest

from keras_attn.translation.export import tensorflow_process

ON_JAX = """
import os
import keras
from keras_attn.translation.export import tensorflow_process
if __name__ == "__main__":
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
    script = tmp_path / "script.py"
    script.write_text(ON_JAX)
    ended = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "KERAS_BACKEND": "jax"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.stdout.splitlines() == [
        "True",
        "True",
        "tensorflow jax",
        "invalid literal for int() with base 10: 'x'",
        "The process with TensorFlow has ended, perhaps for lack of memory.",
    ]
