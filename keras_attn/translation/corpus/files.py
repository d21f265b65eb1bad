"""Corpora in files: a file of pairs, or two files line by line."""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO

from keras_attn.translation.corpus import formats
from keras_attn.translation.corpus.pairs import Pair


def read_files(paths: list[Path], source: str, target: str) -> list[Pair | None]:
    """Pairs of the lines of a file, or of two files; None for a broken line.

    One file may be a table in TMX, XLSX or CSV. `source` and `target` choose the languages of TMX.
    """
    name = ",".join(map(str, paths))
    if len(paths) == 1:
        with _opened(paths[0]) as file:
            found = formats.read_other(paths[0], file, source, target)
        if found is not None:
            return list(found)
    sides = [_read_lines(path) for path in paths]
    counts = [len(lines) for lines in sides]
    if len(set(counts)) > 1:
        raise ValueError(
            "The two files of a corpus must have the same number of lines. "
            f"Received: {counts[0]:,} lines in `{paths[0]}`, {counts[1]:,} in `{paths[1]}`."
        )
    pairs: list[Pair | None]
    if len(sides) == 1:
        pairs = _read_one(paths[0], sides[0])
    else:
        both = zip(*sides, strict=True)
        pairs = [None if one is None or other is None else Pair(one, other) for one, other in both]
    if not pairs:
        raise ValueError(f"A corpus must hold sentences. Received: `{name}`, which is empty.")
    if not any(pairs):
        raise ValueError(
            f"A corpus must hold lines of UTF-8 text, source TAB target. Received: `{name}`, "
            f"in which all {len(pairs):,} lines are broken."
        )
    return pairs


def _read_one(path: Path, lines: list[str | None]) -> list[Pair | None]:
    """Pairs of the lines of one file, with TABs or else with commas."""
    if any(lines) and not any(line and "\t" in line for line in lines):
        return formats.read_csv(path, lines)
    formats.check_columns(path, lines)
    return [_parse(line) for line in formats.without_quotes(lines)]


def utf8_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of a file in UTF-8, without line ends and byte order marks.

    Text in UTF-16 that begins with a byte order mark is converted, as Windows programs write it.
    A CR ends a line only in text without any LF, as old Mac programs wrote it. Elsewhere it is a
    character of the line, so that lines correspond to lines of other programs.

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


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The content of a file, plain or gzip."""
    if path.is_dir():
        raise ValueError(f"A corpus must be a file, not a folder. Received: data={str(path)!r}.")
    try:
        with path.open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            yield gzip.open(file) if compressed else file  # type: ignore[misc]
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"`{path}` cannot be read to its end: {error}.") from error


def _read_lines(path: Path) -> list[str | None]:
    """Lines of a file; None for a line that is not UTF-8."""
    with _opened(path) as file:
        lines = [_decode(line) for line in utf8_lines(file)]
        if sum(line is None for line in lines) > len(lines) / 2:
            file.seek(0)
            raise ValueError(formats.not_utf8(path, file.read()))
    return lines


def _decode(line: bytes) -> str | None:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _parse(text: str | None) -> Pair | None:
    """Pair of a line: two empty sides for an empty line, None for a broken line."""
    if text is None:
        return None
    if not text.strip():
        return Pair("", "")
    columns = text.split("\t")
    return Pair(columns[0], columns[1]) if len(columns) > 1 else None
