"""The server from the shell: `python -m keras_attn.serving saved_models/ja-en`."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from pathlib import Path

from keras_attn.serving.settings import Settings

_NEEDED = (
    "`keras_attn.serving` needs packages that are not here: {name}. Install them with `pip install "
    '-e ".[serving]"` in the folder of the project.'
)

HELP = {
    "host": "address to listen on",
    "port": "port to listen on; 0 for any that is free",
    "batch_rows": "texts of several requests that are translated at once, at most",
    "batch_wait": "seconds that a request waits for others to join it",
    "threads": "batches that are translated at the same time",
    "queue_rows": "texts that may wait; requests beyond are answered 503",
    "max_body": "bytes of a request's body",
    "max_rows": "texts of a request",
    "max_characters": "characters of a text",
    "max_seconds": "from a request to its answer",
    "poll_seconds": "between two looks for new versions",
}


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m keras_attn.serving",
        description="Serve an exported translator as TensorFlow Serving does, with a page at /.",
    )
    parser.add_argument("model", type=Path, help="the folder of versions; its name is the model's")
    for field in dataclasses.fields(Settings):
        parser.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type(field.default),
            default=field.default,
            metavar="X",
            help=f"{HELP[field.name]} (%(default)s)",
        )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    arguments = parse_arguments(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        settings = Settings(**{name: getattr(arguments, name) for name in HELP})
        settings.validate()
        from keras_attn.serving import running

        running.run(arguments.model, settings)
    except ModuleNotFoundError as error:
        print(f"error: {_NEEDED.format(name=error.name)}", file=sys.stderr)
        return 2
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
