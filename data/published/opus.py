"""Corpora of OPUS: the archive of a corpus by its name, from the list that OPUS serves."""

import re
from pathlib import Path
from typing import Any

from keras_attn_data import download
from keras_attn_data.published import subtitles
from keras_attn_data.published.table import OPUS, Published, opus_credit

API = "https://opus.nlpl.eu/opusapi/"
NAMED = 20  # most corpora that an error names

_NAME = re.compile(r"[\w.-]+")


def check_name(name: str) -> str:
    """Name of a corpus without the prefix, in lower case.

    Raises:
        ValueError: If it cannot be one.
    """
    if not _NAME.fullmatch(name.removeprefix(OPUS)):
        raise ValueError(
            f"A corpus of OPUS is given as {OPUS}CORPUS, with the name that "
            f"https://opus.nlpl.eu/ has for it. Received: data={name!r}."
        )
    return name.removeprefix(OPUS).lower()


def find(name: str, source: str, target: str, archive: Path) -> Published:
    """Newest version of a corpus for two languages; OPUS is not asked if the archive is there.

    Raises:
        ValueError: If OPUS has no such corpus; the message names the largest that it has.
        OSError: If OPUS does not answer.
    """
    first, second = sorted((source, target))  # as the archives are named
    if archive.exists():
        return _of(name.removeprefix(OPUS), {"url": str(archive)}, first, second)
    found: dict[str, dict[str, Any]] = {}
    # Some corpora have a second archive, of the lines that are aligned one to one.
    for row in sorted(
        _rows(name, first, second, archive), key=lambda row: ".strict." in row["url"]
    ):
        found.setdefault(row["corpus"], row)
    wanted = check_name(name)
    corpus = next((corpus for corpus in found if corpus.lower() == wanted), None)
    if corpus is None:
        named = sorted(found.values(), key=_size, reverse=True)[:NAMED]
        listed = ", ".join(f"{row['corpus']} ({_size(row):,} pairs)" for row in named)
        both = f"in `{first}` and `{second}`"
        raise ValueError(
            f"OPUS has no corpus of this name {both}. Received: data={name!r}. "
            + (f"The largest that it has: {listed}." if listed else f"It has none {both}.")
        )
    return _of(corpus, found[corpus], first, second)


def _of(corpus: str, row: dict[str, Any], first: str, second: str) -> Published:
    return Published(
        row["url"],
        (first, second),
        {"train": tuple(f".{first}-{second}.{one}" for one in (first, second))},
        "other",
        opus_credit(corpus),
        _size(row),
        **({"mend": subtitles.mend} if "subtitles" in corpus.lower() else {}),
    )


def _rows(name: str, first: str, second: str, archive: Path) -> list[dict[str, Any]]:
    """All corpora of two languages."""
    asked = {
        "source": first,
        "target": second,
        "preprocessing": "moses",
        "version": "latest",
    }
    try:
        with download.new_session() as session:
            response = session.get(API, params=asked, timeout=download.TIMEOUT)
            response.raise_for_status()
            rows = response.json()["corpora"]
            return [row for row in rows if {row["source"], row["target"]} == {first, second}]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OSError(
            f"The list of OPUS at {API} cannot be read, perhaps because there is no network: "
            f"{download.reason(error)}. Run again later, or copy the Moses archive of `{name}` in "
            f"`{first}` and `{second}` to {archive}."
        ) from error


def _size(row: dict[str, Any]) -> int:
    """Number of pairs; a string in some rows, or empty."""
    return int(row.get("alignment_pairs") or 0)
