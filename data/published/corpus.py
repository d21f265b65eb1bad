"""A published corpus by name: fetched once, prepared once, read in slices."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

from keras_attn_data import cache, download
from keras_attn_data.published import opus, shards
from keras_attn_data.published.table import OPUS, PUBLISHED, Published

TRAIN = "train"  # part of a corpus that is named without a part


class PublishedCorpus:
    """One part of a published corpus on disk.

    Raises:
        ValueError: If there is no such corpus or part, or not in these languages.
        OSError: If the archive cannot be downloaded or unpacked.
    """

    def __init__(self, name: str, source: str, target: str):
        self._source = source
        folder = cache.folder() / "published"
        if name.startswith(OPUS):
            pair = "-".join(sorted((source, target)))
            self._folder = folder / f"opus-{opus.check_name(name)}-{pair}"
            if not shards.is_ready(self._folder):  # then OPUS need not be asked
                archive = folder / f"{self._folder.name}.txt.zip"
                row = opus.find(name, source, target, archive)
                _prepare(name, row, TRAIN, self._folder, archive)
        else:
            base, _, part = name.partition(":")
            row = PUBLISHED[base]
            part = part or TRAIN
            _check(name, row, part, source, target)
            self._folder = folder / f"{base}-{part}"
            if not shards.is_ready(self._folder):
                suffix = "".join(Path(urlsplit(row.address).path).suffixes[-2:])
                _prepare(name, row, part, self._folder, folder / f"{base}{suffix}")
        self._num_pairs = shards.count(self._folder)

    def __len__(self) -> int:
        """Number of pairs, before cleaning."""
        return self._num_pairs

    def read(self, part: int, num_parts: int) -> list[tuple[str, str]]:
        """Slice `part` of `num_parts` slices of equal length, the source side first."""
        start, stop = (len(self) * i // num_parts for i in (part, part + 1))
        return list(shards.read(self._folder, self._source, start, stop))


def _check(name: str, row: Published, part: str, source: str, target: str) -> None:
    if part not in row.members:
        raise ValueError(
            f"The parts of this corpus are {', '.join(row.members)}. Received: data={name!r}."
        )
    first, second = row.languages
    if {source, target} != {first, second}:
        raise ValueError(
            f"The corpus `{name}` translates from {first} to {second} or from {second} to {first}. "
            f"Received: source={source!r}, target={target!r}."
        )


def _prepare(name: str, row: Published, part: str, folder: Path, archive: Path) -> None:
    """Fetch the archive of a corpus and write its shards; a line on stderr announces each."""
    if not archive.exists():
        about = f" (about {row.num_pairs:,} pairs)" if row.num_pairs else ""
        print(f"Fetching {name}{about} from {row.address}", file=sys.stderr)
    download.fetch(row.address, archive, row.sha256)
    if row.sha256:
        download.verify(archive, row.sha256)
    print(f"Preparing {name} in {folder}", file=sys.stderr)
    try:
        broken = shards.write(archive, row, part, folder)
    except OSError as error:
        raise OSError(f"{name} cannot be prepared in {folder}: {error}.") from error
    if broken:
        print(
            f"warning: {name}: {broken:,} lines without TAB or valid UTF-8 left out.",
            file=sys.stderr,
        )
