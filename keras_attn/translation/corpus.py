"""A corpus by name or by path -> cleaned pairs of sentences in splits that cannot leak."""

from __future__ import annotations

import gzip
import importlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from keras_attn.translation import cleaning, splits
from keras_attn.translation.cleaning import Pair
from keras_attn.translation.splits import Example

__all__ = ["MAX_CHARACTERS", "Corpus", "Example", "Pair", "load"]

# Longest side of a pair. Longer lines are paragraphs, which no model here is trained to translate.
MAX_CHARACTERS = 500

# The corpora that have a name, with the credit to give wherever they are used.
CREDITS = {
    "everyday": "",
    "tatoeba": "Sentences: Tatoeba project, https://tatoeba.org, licence CC BY 2.0 FR "
    "(https://creativecommons.org/licenses/by/2.0/fr/).",
}
NAMED_LANGUAGES = ("ja", "en")

# Before the name of a set of TensorFlow Datasets.
TFDS = "tfds:"

# Broken lines that are named; the others are only counted.
MAX_NAMED_LINES = 10

# Scores on fewer test sentences than this swing by several points from chance alone.
MIN_TELLING_TEST = 100


@dataclass(frozen=True)
class Corpus:
    """Pairs to train on and sentences to evaluate on.

    Attributes:
        name: As given: `everyday`, `tatoeba` or the path of a file.
        source: Language code of the source side.
        target: Language code of the target side.
        train: Pairs to train on.
        validation: One sentence of each validation group, with its references.
        test: One sentence of each test group, with its references.
        counts: `read` lines or pairs; those left out, by reason (`broken` lines, then
            `cleaning.REASONS`); `kept` is the rest, in that many `groups`, and the sum of
            `train`, `validation`, `test` and `withheld` (`splits.Splits`).
        credit: Whom to name wherever the corpus is used; empty if nobody.
        warnings: Sentences for the user about what was found in the corpus.
    """

    name: str
    source: str
    target: str
    train: list[Pair]
    validation: list[Example]
    test: list[Example]
    counts: dict[str, int]
    credit: str = ""
    warnings: tuple[str, ...] = ()

    def summary(self) -> str:
        """Counts, warnings and credit for the terminal."""
        counts = ", ".join(f"{name} {count:,}" for name, count in self.counts.items())
        lines = [f"Corpus {self.name}: {counts}", *(f"warning: {line}" for line in self.warnings)]
        return "\n".join([*lines, *([self.credit] if self.credit else [])])


class _Raw(NamedTuple):
    pairs: list[Pair]
    combinations: list[str] | None = None
    broken: Sequence[int] = ()  # line numbers, from 1


def load(
    name: str, source: str = "ja", target: str = "en", max_characters: int = MAX_CHARACTERS
) -> Corpus:
    """Reads, cleans and splits a corpus.

    Args:
        name: `everyday`, `tatoeba`, or the path of a UTF-8 file, plain or gzip, of lines
            `source TAB target`; further columns are ignored. Or the paths of two files, joined by
            a comma, with the sources and their translations line by line. Or `tfds:` and the name
            of a translation set of TensorFlow Datasets, whose split `train` is read.
        source: Language code of the source side.
        target: Language code of the target side.
        max_characters: Longest side of a pair, in characters.

    Raises:
        ValueError: If there is no such corpus, it cannot be read, or too little is left of it.
        OSError: If a corpus that is not on this machine cannot be fetched.
    """
    name = str(name)
    if max_characters < 1:
        raise ValueError(
            f"`max_characters` must be at least 1. Received: max_characters={max_characters}."
        )
    raw = _read(name, source, target)
    cleaned = cleaning.clean(raw.pairs, source, target, max_characters)
    counts = {
        "read": len(raw.pairs) + len(raw.broken),
        "broken": len(raw.broken),
        **cleaned.dropped,
        "kept": len(cleaned.pairs),
    }
    if not cleaned.pairs:
        raise ValueError(_nothing_left(name, source, target, counts))
    # A group is placed by its Japanese side, so that both directions have the same splits.
    anchor = 1 if target == "ja" and source != "ja" else 0
    combinations = raw.combinations and [raw.combinations[i] for i in cleaned.positions]
    parts = splits.split(cleaned.pairs, combinations, anchor)
    counts |= {
        "groups": parts.groups,
        "train": len(parts.train),
        "validation": len(parts.validation),
        "test": len(parts.test),
        "withheld": parts.withheld,
    }
    return Corpus(
        name=name,
        source=source,
        target=target,
        train=parts.train,
        validation=parts.validation,
        test=parts.test,
        counts=counts,
        credit=CREDITS.get(name, ""),
        warnings=(*_broken_lines(name, raw.broken), *_rough_scores(name, len(parts.test))),
    )


def _read_named(name: str, source: str, target: str) -> _Raw:
    if sorted((source, target)) != sorted(NAMED_LANGUAGES):
        raise ValueError(
            f"The corpus `{name}` translates from ja to en or from en to ja. "
            f"Received: source={source!r}, target={target!r}."
        )
    # Here and not above: a user's own file needs neither.
    import tensorflow_datasets as tfds
    from keras_attn_data import cache

    module = importlib.import_module(f"keras_attn_data.{name}.{name}_dataset_builder")
    data_dir = cache.folder() / "tensorflow_datasets"
    tfds.disable_progress_bar()
    builder = module.Builder(data_dir=data_dir)
    try:
        builder.download_and_prepare()
    except OSError:
        # Another process may have prepared it meanwhile; then there is nothing left to do.
        builder = module.Builder(data_dir=data_dir)
        if not builder.is_prepared():
            raise
    examples = tfds.as_numpy(builder.as_dataset(split="train", batch_size=-1))
    texts = {key: [text.decode("utf-8") for text in examples[key]] for key in NAMED_LANGUAGES}
    pairs = [Pair(*sides) for sides in zip(texts[source], texts[target], strict=True)]
    if "combination" not in examples:
        return _Raw(pairs)
    return _Raw(pairs, [text.decode("utf-8") for text in examples["combination"]])


def _read_tfds(name: str, source: str, target: str) -> list[Pair]:
    import tensorflow_datasets as tfds
    from keras_attn_data import cache

    tfds.disable_progress_bar()
    try:
        builder = tfds.builder(name, data_dir=cache.folder() / "tensorflow_datasets")
    except (tfds.core.DatasetNotFoundError, ValueError) as error:
        raise ValueError(
            "TensorFlow Datasets has no set of this name. "
            f"Received: data={TFDS + name!r} ({_first_line(error)})."
        ) from error
    languages = sorted(builder.info.features)
    if not {source, target} <= set(languages):
        raise ValueError(
            f"The set `{name}` must have texts in `{source}` and `{target}`. "
            f"Received: a set of {', '.join(languages)}."
        )
    try:
        builder.download_and_prepare()
    except Exception as error:  # every set fetches in its own way
        raise OSError(
            f"The set `{name}` of TensorFlow Datasets cannot be fetched into "
            f"`{builder.data_dir}`: {_first_line(error)}"
        ) from error
    examples = tfds.as_numpy(builder.as_dataset(split="train"))
    return [Pair(*(row[side].decode("utf-8") for side in (source, target))) for row in examples]


def _first_line(error: Exception) -> str:
    """The kind of an error and what it says first; some say nothing, some say pages."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _read(name: str, source: str, target: str) -> _Raw:
    if name in CREDITS:
        return _read_named(name, source, target)
    if name.startswith(TFDS):
        return _Raw(_read_tfds(name.removeprefix(TFDS), source, target))
    path = Path(name).expanduser()
    sides = [Path(side).expanduser() for side in name.split(",")]
    if len(sides) == 2 and not path.exists():
        lines = _read_lines(sides[0], name), _read_lines(sides[1], name)
        counts = [len(side) for side in lines]
        if counts[0] != counts[1]:
            raise ValueError(
                "Two files of a corpus must have as many lines as each other. "
                f"Received: {counts[0]:,} lines in `{sides[0]}`, {counts[1]:,} in `{sides[1]}`."
            )
        pairs = [
            Pair(one, other) if one is not None and other is not None else None
            for one, other in zip(*lines, strict=True)
        ]
    else:
        pairs = [_parse(line) for line in _read_lines(path, name)]
    broken = [number for number, pair in enumerate(pairs, start=1) if pair is None]
    if not pairs:
        raise ValueError(f"A corpus must hold sentences. Received: `{name}`, which is empty.")
    if len(broken) == len(pairs):
        raise ValueError(
            f"A corpus must hold lines of UTF-8 text, source TAB target. Received: `{name}`, "
            f"where none of the {len(broken):,} lines is such a line."
        )
    return _Raw([pair for pair in pairs if pair is not None], broken=broken)


def _read_lines(path: Path, name: str) -> list[str | None]:
    """The lines of a file, None for one that is not UTF-8."""
    if not path.exists():
        raise ValueError(
            f"There is no corpus of this name and no such file: expected one of "
            f"{', '.join(sorted(CREDITS))}, the path of a TSV file, or two paths and a comma. "
            f"Received: data={name!r}."
        )
    if path.is_dir():
        raise ValueError(f"A corpus must be a file, not a folder. Received: data={str(path)!r}.")
    try:
        return [_decode(line) for line in _lines(path)]
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"`{path}` cannot be read to its end: {error}.") from error


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield from gzip.open(file) if compressed else file


def _decode(line: bytes) -> str | None:
    try:
        return line.decode("utf-8").removeprefix("\ufeff").rstrip("\r\n")
    except UnicodeDecodeError:
        return None


def _parse(text: str | None) -> Pair | None:
    """The pair of a line; an empty line is a pair of empty sides, a broken line None."""
    if text is None:
        return None
    if not text.strip():
        return Pair("", "")
    columns = text.split("\t")
    return Pair(columns[0], columns[1]) if len(columns) > 1 else None


def _nothing_left(name: str, source: str, target: str, counts: dict[str, int]) -> str:
    found = ", ".join(f"{reason} {count:,}" for reason, count in counts.items())
    hint = ""
    if counts["wrong_script"]:
        hint = f" If the columns are the other way round, use --source {target} --target {source}."
    return f"No pair of the corpus is left after cleaning. Received: data={name!r} ({found}).{hint}"


def _broken_lines(name: str, broken: Sequence[int]) -> list[str]:
    if not broken:
        return []
    named = ", ".join(map(str, broken[:MAX_NAMED_LINES]))
    more = ", ..." if len(broken) > MAX_NAMED_LINES else ""
    lines = "1 line" if len(broken) == 1 else f"{len(broken):,} lines"
    return [f"{name}: {lines} without TAB or valid UTF-8 left out: {named}{more}."]


def _rough_scores(name: str, num_test: int) -> list[str]:
    if num_test >= MIN_TELLING_TEST:
        return []
    sentences = "1 sentence" if num_test == 1 else f"{num_test} sentences"
    return [f"{name}: the test split has only {sentences}: its scores say little."]
