"""Run a script without the lines that TensorFlow prints when it is imported.

    python -m keras_attn.quiet my_script.py ARGUMENT ...

TensorFlow is imported before the script, with its lines hidden unless the import fails.
"""

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

from keras_attn.translation.runtime.native_output import suppress_native_stderr


def main(arguments: list[str]) -> None:
    if not arguments:
        sys.exit("usage: python -m keras_attn.quiet SCRIPT [ARGUMENT ...]")
    with suppress_native_stderr():
        if find_spec("tensorflow"):
            import tensorflow  # noqa: F401
        import keras_attn.layers
        import keras_attn.training  # noqa: F401 - registered, as an import of `keras_attn` does
    sys.argv[:] = arguments
    sys.path[0] = str(Path(arguments[0]).resolve().parent)
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
