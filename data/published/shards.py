"""Pairs of an archive, dealt out to files that are read one after another.

A corpus of millions of pairs does not fit in memory. So each pair is written to a shard that is
chosen by its first side. The pairs of each shard are a sample of the whole corpus, and any slice
of the shards is read without the others.
"""

import gzip
import json
import shutil
import tarfile
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import Any

from keras_attn_data.published.table import Published

FORM = 1  # a higher number writes the shards again
INDEX = "index.json"
SHARD_BYTES = 1 << 22
MAX_SHARDS = 200  # files that are open at once

# Members that are kept next to the shards.
NOTICES = ("README", "LICENSE")


def is_ready(folder: Path) -> bool:
    """Whether `write` has finished the folder."""
    try:
        return _index(folder)["form"] == FORM
    except (OSError, ValueError, KeyError):
        return False


def write(archive: Path, corpus: Published, part: str, folder: Path) -> int:
    """Write the shards of a part of a corpus; return the number of lines that are broken.

    Raises:
        ValueError: If the archive cannot be read or lacks a member.
        OSError: If the disk is full.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = folder.with_name(f"{folder.name}.{uuid.uuid4().hex}")  # another process may do the same
    new.mkdir()
    try:
        members = _extract(archive, corpus.members[part], new)
        size = sum(member.stat().st_size for member in members)
        num_shards = min(max(size // SHARD_BYTES, 1), MAX_SHARDS)
        counts, broken = _deal(_pairs(members), corpus, num_shards, new)
        for member in members:
            member.unlink()
        index = {"form": FORM, "counts": counts, "languages": corpus.languages}
        (new / INDEX).write_text(json.dumps(index), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return broken


def count(folder: Path) -> int:
    """Number of pairs in all shards."""
    return sum(_index(folder)["counts"])


def read(folder: Path, source: str, start: int, stop: int) -> Iterator[tuple[str, str]]:
    """Pairs from position `start` to `stop`, with the side of the language `source` first."""
    index = _index(folder)
    is_swapped = index["languages"][0] != source
    ends = list(accumulate(index["counts"], initial=0))
    for shard in range(len(ends) - 1):
        if ends[shard] >= stop or ends[shard + 1] <= start:
            continue
        with _shard(folder, shard).open("rb") as file:
            for i, line in enumerate(file, ends[shard]):
                if start <= i < stop:
                    first, second = line.decode("utf-8").rstrip("\n").split("\t")
                    yield (second, first) if is_swapped else (first, second)


def _index(folder: Path) -> dict[str, Any]:
    return json.loads((folder / INDEX).read_text(encoding="utf-8"))


def _shard(folder: Path, shard: int) -> Path:
    return folder / f"{shard:03}.tsv"


def _extract(archive: Path, names: tuple[str, ...], folder: Path) -> list[Path]:
    """Copy the members whose names end so, and the notices, to a folder."""
    paths = {name: folder / f"member-{i}" for i, name in enumerate(names)}
    try:
        for name, file in _members(archive):
            wanted = next((one for one in names if name.endswith(one)), None)
            if wanted or name in NOTICES:
                with (paths[wanted] if wanted else folder / name).open("wb") as copy:
                    shutil.copyfileobj(file, copy)
            if len(names) == 1 and wanted:
                break
    except (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"The archive at {archive} cannot be read to its end ({error}). Delete it to download "
            "it again."
        ) from error
    missing = [name for name, path in paths.items() if not path.exists()]
    if missing:
        raise ValueError(f"The archive at {archive} must hold {missing[0]} but does not.")
    return list(paths.values())


def _members(archive: Path) -> Iterator[tuple[str, Any]]:
    """Names of the members of a zip or tar archive, and their content."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            for name in opened.namelist():
                with opened.open(name) as file:
                    yield name, file
        return
    with tarfile.open(archive, "r|*") as stream:
        for member in stream:
            if (content := stream.extractfile(member)) is not None:
                yield member.name, content


def _pairs(members: list[Path]) -> Iterator[tuple[bytes, ...]]:
    """Columns of the lines of one file, or the lines of two files side by side."""
    if len(members) == 1:
        with members[0].open("rb") as file:
            for line in file:
                yield tuple(line.rstrip(b"\r\n").split(b"\t"))
        return
    with members[0].open("rb") as first, members[1].open("rb") as second:
        for number, lines in enumerate(zip_longest(first, second), start=1):
            if None in lines:
                raise ValueError(
                    "The two files of a corpus must have the same number of lines. Received: an "
                    f"archive in which one of them ends before line {number:,}."
                )
            yield tuple(line.rstrip(b"\r\n").replace(b"\t", b" ") for line in lines)


def _deal(
    pairs: Iterator[tuple[bytes, ...]], corpus: Published, num_shards: int, folder: Path
) -> tuple[list[int], int]:
    """Write each pair to a shard; return their numbers of pairs, and of lines that are broken."""
    counts, broken = [0] * num_shards, 0
    files = [_shard(folder, i).open("w", encoding="utf-8", newline="\n") for i in range(num_shards)]
    try:
        for columns in pairs:
            try:
                texts = [column.decode("utf-8") for column in columns[:2]]
            except UnicodeDecodeError:
                texts = []
            if len(texts) < 2:
                broken += 1
                continue
            first, second = map(corpus.mend, texts, corpus.languages)
            shard = zlib.crc32(first.encode("utf-8")) % num_shards
            counts[shard] += 1
            files[shard].write(f"{first}\t{second}\n")
    finally:
        for file in files:
            file.close()
    return counts, broken
