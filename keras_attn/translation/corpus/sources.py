"""Sources of a corpus: built-in names, text files, TensorFlow Datasets."""

from __future__ import annotations

import gzip
import importlib
import io
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from keras_attn.languages import code_of
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.lines import utf8_lines

# Built-in corpora, by name, with the attribution that each licence requires.
CREDITS = {
    "everyday": "",
    "tatoeba": "Sentences: Tatoeba project, https://tatoeba.org, licence CC BY 2.0 FR "
    "(https://creativecommons.org/licenses/by/2.0/fr/).",
}
# Licences of what is made of the built-in corpora, by their identifiers on model hubs.
LICENCES = {"everyday": "apache-2.0", "tatoeba": "cc-by-2.0"}
NAMED_LANGUAGES = ("ja", "en")

# Prefix of the name of a set of TensorFlow Datasets.
TFDS = "tfds:"


class Raw(NamedTuple):
    """Pairs of a corpus before cleaning.

    Attributes:
        pairs: Pairs in the order of the corpus.
        combinations: One string for each pair, if the corpus has combinations. Pairs with equal
            strings must be in the same split.
        broken: Line numbers, from 1, of lines that hold no pair.
        weights: One weight for each pair, if the corpus has weights.
    """

    pairs: list[Pair]
    combinations: list[str] | None = None
    broken: Sequence[int] = ()
    weights: list[float] | None = None


def read(name: str, source: str, target: str) -> Raw:
    """Read a built-in corpus, a file, or two files joined by a comma.

    Args:
        name: A single corpus without weight, in the form that `load_corpus` accepts.
        source: Language code of the source side.
        target: Language code of the target side.

    Raises:
        ValueError: If the corpus does not exist or cannot be read.
        OSError: If a corpus cannot be downloaded.
    """
    return _read_named(name, source, target) if name in CREDITS else _read_files(name)


class TranslationSet:
    """Split `train` of a translation set of TensorFlow Datasets, read one slice at a time.

    Args:
        name: Name of the set in TensorFlow Datasets.
        source: Language code of the source side.
        target: Language code of the target side.

    Raises:
        ValueError: If the set does not exist, lacks one of the languages, or has no split `train`.
        OSError: If the set cannot be downloaded.
    """

    def __init__(self, name: str, source: str, target: str):
        # Imported here because only sets of TensorFlow Datasets need it.
        import tensorflow_datasets as tfds
        from keras_attn_data import cache
        from tensorflow_datasets.core.download import downloader

        downloader.MAX_RETRIES = 3  # the default of 10 takes minutes to fail without a network
        tfds.disable_progress_bar()
        self._languages = source, target
        try:
            self._builder = tfds.builder(name, data_dir=cache.folder() / "tensorflow_datasets")
        except (tfds.core.DatasetNotFoundError, ValueError) as error:
            raise ValueError(
                "TensorFlow Datasets has no set of this name. "
                f"Received: data={TFDS + name!r} ({_first_line(error)})."
            ) from error
        languages = sorted(self._builder.info.features)
        if not {source, target} <= set(languages):
            raise ValueError(
                f"The set `{name}` must have texts in `{source}` and `{target}`. "
                f"Received: a set of {', '.join(languages)}."
            )
        try:
            _prepare(self._builder, name)
        except Exception as error:  # each set has its own download code and exceptions
            raise OSError(
                f"The set `{name}` of TensorFlow Datasets cannot be downloaded to "
                f"`{self._builder.data_dir}`: {_first_line(error)}"
            ) from error
        if "train" not in self._builder.info.splits:
            raise ValueError(
                f"The set `{name}` must have a split `train`. "
                f"Received: a set of {', '.join(self._builder.info.splits)}."
            )

    def __len__(self) -> int:
        """Number of pairs."""
        return self._builder.info.splits["train"].num_examples

    def read(self, part: int, num_parts: int) -> list[Pair]:
        """Slice `part` of `num_parts` slices of equal length; opens only the shards it needs."""
        import tensorflow_datasets as tfds

        start, stop = (len(self) * i // num_parts for i in (part, part + 1))
        if start == stop:  # `ReadInstruction` rejects an empty slice
            return []
        instruction = tfds.core.ReadInstruction("train", from_=start, to=stop, unit="abs")
        config = tfds.ReadConfig(try_autocache=False)  # a cache would keep the slice in memory
        examples: Any = tfds.as_numpy(
            self._builder.as_dataset(split=instruction, read_config=config)
        )
        return [Pair(*(row[side].decode("utf-8") for side in self._languages)) for row in examples]


def _prepare(builder: Any, name: str) -> None:
    """Prepare a data set once, with one line in place of those of TensorFlow Datasets."""
    if builder.info.splits:
        return
    print(f"Preparing {name}", end="", file=sys.stderr, flush=True)
    counted = ""
    try:
        with redirect_stdout(io.StringIO()):
            builder.download_and_prepare()
        if "train" in builder.info.splits:
            counted = f" ({builder.info.splits['train'].num_examples:,} pairs)"
    finally:
        print(counted, file=sys.stderr, flush=True)


def _first_line(error: Exception) -> str:
    """Type of an error and the first line of its message, which may be empty or pages long."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _read_named(name: str, source: str, target: str) -> Raw:
    codes = code_of(source), code_of(target)
    if sorted(codes) != sorted(NAMED_LANGUAGES):
        raise ValueError(
            f"The corpus `{name}` translates from ja to en or from en to ja. "
            f"Received: source={source!r}, target={target!r}."
        )
    import tensorflow_datasets as tfds
    from keras_attn_data import cache

    module = importlib.import_module(f"keras_attn_data.{name}.{name}_dataset_builder")
    data_dir = cache.folder() / "tensorflow_datasets"
    tfds.disable_progress_bar()
    builder = module.Builder(data_dir=data_dir)
    try:
        _prepare(builder, name)
    except OSError:
        # Another process may have prepared the corpus at the same time.
        builder = module.Builder(data_dir=data_dir)
        if not builder.is_prepared():
            raise
    examples = tfds.as_numpy(builder.as_dataset(split="train", batch_size=-1))
    texts = {key: [text.decode("utf-8") for text in examples[key]] for key in NAMED_LANGUAGES}
    pairs = [Pair(*sides) for sides in zip(*(texts[code] for code in codes), strict=True)]
    if "combination" not in examples:
        return Raw(pairs)
    return Raw(
        pairs,
        [text.decode("utf-8") for text in examples["combination"]],
        weights=examples["weight"].tolist(),
    )


def _read_files(name: str) -> Raw:
    path = Path(name).expanduser()
    sides = [Path(side).expanduser() for side in name.split(",")]
    if len(sides) == 2 and not path.exists():
        missing = [str(side) for side in sides if not side.exists()]
        if len(missing) == 1:
            raise ValueError(
                "Both files of a corpus must exist. "
                f"Received: data={name!r}, of which there is no `{missing[0]}`."
            )
        lines = _read_lines(sides[0], name), _read_lines(sides[1], name)
        counts = [len(side) for side in lines]
        if counts[0] != counts[1]:
            raise ValueError(
                "The two files of a corpus must have the same number of lines. "
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
            f"in which all {len(broken):,} lines are broken."
        )
    return Raw([pair for pair in pairs if pair is not None], broken=broken)


def _read_lines(path: Path, name: str) -> list[str | None]:
    """Lines of a file; None for a line that is not UTF-8."""
    if not path.exists():
        raise ValueError(
            f"There is no corpus of this name and no such file. Expected one of "
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
        yield from utf8_lines(gzip.open(file) if compressed else file)


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
