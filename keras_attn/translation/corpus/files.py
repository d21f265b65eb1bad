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
    pairs = _read_two(*paths) if len(paths) == 2 else _read_one(paths[0], source, target)
    if not pairs:
        raise ValueError(f"A corpus must hold sentences. Received: `{name}`, which is empty.")
    if not any(pairs):
        raise formats.not_lines(name, f"in which all {len(pairs):,} lines are broken")
    return pairs


def _read_one(path: Path, source: str, target: str) -> list[Pair | None]:
    with _opened(path) as file:
        found = formats.read_other(path, file, source, target)
    if found is not None:
        return found
    lines = _read_lines(path)
    if any(lines) and not any(line and "\t" in line for line in lines):
        return formats.read_csv(path, lines)
    formats.check_columns(path, lines)
    return [_parse(line) for line in formats.without_quotes(lines)]


def _read_two(*paths: Path) -> list[Pair | None]:
    sides = [_read_lines(path) for path in paths]
    counts = [len(lines) for lines in sides]
    if len(set(counts)) > 1:
        raise ValueError(
            "The two files of a corpus must have the same number of lines. "
            f"Received: {counts[0]:,} lines in `{paths[0]}`, {counts[1]:,} in `{paths[1]}`."
        )
    both = zip(*sides, strict=True)
    return [None if one is None or other is None else Pair(one, other) for one, other in both]


def utf8_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of a file in UTF-8, or UTF-16 with a byte order mark, without line ends and marks.

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
    lines: list[str | None] = []
    with _opened(path) as file:
        for line in utf8_lines(file):
            try:
                lines.append(line.decode("utf-8"))
            except UnicodeDecodeError:
                lines.append(None)
        if lines.count(None) > len(lines) / 2:
            file.seek(0)
            raise formats.not_utf8(path, file.read())
    return lines


def _parse(text: str | None) -> Pair | None:
    """Pair of a line: two empty sides for an empty line, None for a broken line."""
    columns = (text or "").split("\t")
    if text is not None and not text.strip():
        return Pair("", "")
    return Pair(*columns[:2]) if len(columns) > 1 else None
