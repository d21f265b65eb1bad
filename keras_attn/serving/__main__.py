"""Command line of the server: `keras-attn serve saved_models/ja-en`."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from pathlib import Path

from keras_attn.command_line import add_version, form
from keras_attn.extras import missing
from keras_attn.serving.settings import Settings
from keras_attn.translation.runtime import native_output

HELP = {
    "host": "address to listen on",
    "port": "port to listen on; 0 for any free port",
    "grpc_port": "port of TensorFlow Serving's gRPC services; 0 for none",
    "batch_rows": "maximum number of texts in a batch",
    "batch_characters": "maximum number of characters in a batch of several requests",
    "batch_wait": "seconds that a request waits for other requests to share its batch",
    "threads": "number of batches translated at the same time",
    "queue_rows": "maximum number of waiting texts; further requests get status 503",
    "max_body": "maximum size of the body of a request, in bytes",
    "max_rows": "maximum number of texts in a request",
    "max_characters": "maximum length of a text, in characters",
    "max_terms": "maximum number of terms in a glossary",
    "max_term_characters": "maximum length of a term in a glossary, in characters",
    "max_seconds": "maximum time from a request to its answer, in seconds",
    "poll_seconds": "seconds between checks for new versions",
    "keep_alive": "seconds that an idle connection stays open; longer than those of a proxy",
    "root_path": "path under which a proxy offers the server, if the proxy removes it",
    "cors_origin": "origins whose pages may ask the server, separated by commas; * for all",
}
METAVARS = {
    "host": "ADDRESS",
    "port": "PORT",
    "grpc_port": "PORT",
    "batch_rows": "TEXTS",
    "batch_characters": "CHARACTERS",
    "batch_wait": "SECONDS",
    "threads": "BATCHES",
    "queue_rows": "TEXTS",
    "max_body": "BYTES",
    "max_rows": "TEXTS",
    "max_characters": "CHARACTERS",
    "max_terms": "TERMS",
    "max_term_characters": "CHARACTERS",
    "max_seconds": "SECONDS",
    "poll_seconds": "SECONDS",
    "keep_alive": "SECONDS",
    "root_path": "PATH",
    "cors_origin": "ORIGINS",
}
# Each option can also be given as an environment variable, for example KERAS_ATTN_PORT.
ENVIRONMENT = "KERAS_ATTN_"


def make_parser(prog: str = "python -m keras_attn.serving") -> argparse.ArgumentParser:
    """Parser of the server; `prog` is the start of the command line."""
    purpose = form(
        "Serves exported translators: the APIs of TensorFlow Serving, KServe and LibreTranslate, "
        "and a web page at /. "
        f"Each option may be given as an environment variable, such as {ENVIRONMENT}PORT.",
        f"{prog} saved_models/ja-en",
        f"{prog} saved_models/ja-en --host 0.0.0.0 --port 80 --grpc-port 8500",
        f"{ENVIRONMENT}PORT=80 {prog} saved_models/ja-en",
    )
    parser = argparse.ArgumentParser(prog, **purpose)
    add_version(parser)
    parser.add_argument(
        "model",
        type=Path,
        metavar="MODEL",
        help="folder of all versions, whose name is the name of the model; folder of such folders; "
        "or models.config of TensorFlow Serving",
    )
    for field in dataclasses.fields(Settings):
        parser.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type(field.default),
            # argparse converts a default that is a string, and reports one that is invalid.
            default=os.environ.get(ENVIRONMENT + field.name.upper(), field.default),
            metavar=METAVARS[field.name],
            help=f"{HELP[field.name]} (default: {field.default or 'none'})",
        )
    return parser


def parse_arguments(argv: list[str] | None = None, **prog: str) -> argparse.Namespace:
    return make_parser(**prog).parse_args(argv)


def main(argv: list[str] | None = None, **prog: str) -> int:
    arguments = parse_arguments(argv, **prog)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        settings = Settings(**{name: getattr(arguments, name) for name in HELP})
        settings.validate()
        from keras_attn.serving import logs

        with logs.written_to_stderr():
            with native_output.hidden():
                from keras_attn.serving import running
                from keras_attn.translation.runtime import devices, threads

                threads.one_core_for_each_operation()
                devices.open_devices()
            running.run(arguments.model, settings)
    except ModuleNotFoundError as error:
        print(f"error: {missing(str(error.name), 'serving')}", file=sys.stderr)
        return 2
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
