"""Structured logs: one JSON object for each line."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from keras_attn.translation.runtime.native_output import native_stderr_as_json


@contextmanager
def written_to_stderr() -> Iterator[None]:
    """Log to standard error as JSON lines: time, level, logger, message and extra fields.

    Lines that native code writes to standard error become JSON lines too. The server never logs the
    texts of requests or answers.
    """
    with (
        native_stderr_as_json() as stderr,
        os.fdopen(os.dup(stderr), "w", encoding="utf-8", buffering=1) as stream,
    ):
        root = logging.getLogger()
        handler = logging.StreamHandler(stream)
        handler.setFormatter(
            JsonFormatter(
                "%(asctime)s %(levelname)s %(name)s %(message)s",
                rename_fields={"asctime": "time", "levelname": "level", "name": "logger"},
                datefmt="%Y-%m-%dT%H:%M:%S%z",
                json_ensure_ascii=False,
                # uvicorn's messages once more, with colour codes
                reserved_attrs=[*RESERVED_ATTRS, "color_message"],
            )
        )
        logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
        try:
            yield
        finally:
            root.removeHandler(handler)
