"""Encoding of standard output and standard error."""

from __future__ import annotations

import io
import sys


def print_utf8() -> None:
    """Write standard output and standard error in UTF-8, whatever the locale is.

    In some locales (C, code page 1252 of Windows) Japanese text cannot be printed. UTF-8 loses no
    character, unlike a replacement by question marks, and files of the output can be read again.
    What UTF-8 cannot hold, such as invalid bytes of a file name, is escaped.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # notebooks have other streams, for any text
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
