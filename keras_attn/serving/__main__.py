"""The command `keras-attn serve saved_models/ja-en`, also `python -m keras_attn.serving`."""

import os
import sys
from pathlib import Path
from typing import Any

from keras_attn.cli import add_command, run
from keras_attn.options import add_flags
from keras_attn.serving.settings import Settings
from keras_attn.translation.runtime import native_output

# Each option can also be given as an environment variable, for example KERAS_ATTN_PORT.
ENVIRONMENT = "KERAS_ATTN_"


def add_serve(commands: Any) -> None:
    parser = add_command(
        commands,
        serve,
        "serve translators: APIs of TensorFlow Serving, KServe and LibreTranslate, and a web page",
        f"Each option may be given as an environment variable, such as {ENVIRONMENT}PORT.",
        "keras-attn serve saved_models/ja-en",
        "keras-attn serve saved_models/ja-en --host 0.0.0.0 --port 80 --grpc-port 8500",
        f"{ENVIRONMENT}PORT=80 keras-attn serve saved_models/ja-en",
        extra="serving",
    )
    parser.add_argument(
        "model",
        type=Path,
        metavar="MODEL",
        help="folder of all versions, whose name is the name of the model; folder of such folders; "
        "or models.config of TensorFlow Serving",
    )
    add_flags(parser, Settings, ENVIRONMENT)


def serve(model: Path, **given: Any) -> None:
    settings = Settings(**given)
    settings.validate()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from keras_attn.serving import logs

    with logs.written_to_stderr():
        with native_output.suppress_native_stderr():
            from keras_attn.serving import running
            from keras_attn.translation.runtime import devices, threads

            threads.set_intra_op_threads()
            devices.open_devices()
        running.run(model, settings)


if __name__ == "__main__":
    sys.exit(run(["serve", *sys.argv[1:]], (add_serve,)))
