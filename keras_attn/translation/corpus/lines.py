"""Lines of a text file in UTF-8, whatever its encoding and line ends."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator
from itertools import chain


def utf8_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of a file in UTF-8, without line ends and byte order marks.

    Text in UTF-16 that begins with a byte order mark is converted, as Windows programs write it.
    A CR ends a line only in text without any LF, as old Mac programs wrote it. Elsewhere it is a
    character of the line, so that lines correspond to lines of other programs.

    Args:
        file: Lines that end in LF, as a file in binary mode yields them.

    Example:

    >>> list(utf8_lines([b"one\\r\\n", b"two"])), list(utf8_lines([b"one\\rtwo\\r"]))
    ([b'one', b'two'], [b'one', b'two'])
    """
    given = iter(file)
    first = next(given, b"")
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        content = first + b"".join(given)
        if b"\0" in content:  # half of each TAB, space or LF in UTF-16; UTF-8 has no such byte
            content = content.decode("utf-16", "replace").encode("utf-8")
        given = iter(io.BytesIO(content))
        first = next(given, b"")
    lines: Iterator[bytes] = chain([first], given)
    if not first.endswith(b"\n"):  # there is no LF at all
        lines = iter(first.removesuffix(b"\r").split(b"\r") if first else [])
    for line in lines:
        yield line.rstrip(b"\r\n").removeprefix(codecs.BOM_UTF8)
