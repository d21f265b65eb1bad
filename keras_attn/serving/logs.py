"""Logs as lines of JSON, for whatever collects them."""

from __future__ import annotations

import logging
import sys

from pythonjsonlogger.json import JsonFormatter


def write_to_stderr() -> None:
    """Write what is logged, one JSON object a line: time, level, logger, message and what is added.

    Texts of users are never logged.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonFormatter(
            "%(asctime)s %(levelname)s %(name)s %(message)s",
            rename_fields={"asctime": "time", "levelname": "level", "name": "logger"},
            datefmt="%Y-%m-%dT%H:%M:%S%z",
            json_ensure_ascii=False,
        )
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
