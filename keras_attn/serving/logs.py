"""Structured logs: one JSON object for each line."""

from __future__ import annotations

import logging
import sys

from pythonjsonlogger.json import JsonFormatter


def write_to_stderr() -> None:
    """Log to standard error as JSON lines: time, level, logger, message and extra fields.

    The server never logs the texts of requests or answers.
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
