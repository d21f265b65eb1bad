"""Sources of a corpus: built-in and published names, text files, TensorFlow Datasets."""

import importlib
import io
import math
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple

from keras_attn_data.published import table

from keras_attn.languages import code_of
from keras_attn.translation.config import AND
from keras_attn.translation.corpus import formats
from keras_attn.translation.corpus.files import read_files
from keras_attn.translation.corpus.pairs import Entry, Pair


class BuiltIn(NamedTuple):
    """A corpus of `keras_attn_data`, and the licence of what is made of it."""

    module: str  # with a function `examples`
    licence: str  # identifier on model hubs
    credit: str = ""  # attribution that the licence requires
    training_only: bool = False  # next to other corpora, no row is for validation or test


BUILT_IN = {
    "everyday": BuiltIn("everyday.grammar", "apache-2.0"),
    "jmdict": BuiltIn(
        "jmdict.frames",
        "cc-by-sa-4.0",
        "Words: JMdict, property of the Electronic Dictionary Research and Development Group, "
        "https://www.edrdg.org/edrdg/licence.html, licence CC BY-SA 4.0 "
        "(https://creativecommons.org/licenses/by-sa/4.0/); shortened and put into sentences.",
        training_only=True,
    ),
    "situations": BuiltIn("situations.sentences", "apache-2.0"),
    "tatoeba": BuiltIn(
        "tatoeba.archive",
        "cc-by-2.0",
        "Sentences: Tatoeba project, https://tatoeba.org, licence CC BY 2.0 FR "
        "(https://creativecommons.org/licenses/by/2.0/fr/).",
    ),
}

# Prefix of the name of a set of TensorFlow Datasets.
TFDS = "tfds:"

# Number of pairs of published corpora and TensorFlow Datasets that are in memory at a time.
PART_PAIRS = 200_000

# Pattern of a name with a weight (`own.tsv=3`).
_WEIGHTED = re.compile(r"(.+)=([-+.\w]+)")

# Limit on the weight of a corpus: each repetition of a pair in an epoch takes memory.
MAX_WEIGHT = 1000


class Raw(NamedTuple):
    """Entries before cleaning, broken lines and sentences about files."""

    entries: list[Entry]
    broken: dict[str, list[int]]  # line numbers, from 1, of lines without a pair, by corpus
    remarks: list[str]


class Sources:
    """One or several corpora, opened by name."""

    def __init__(self, name: str, source: str, target: str):
        self.name, self.languages = name, (source, target)
        self.weights = _weights(name)  # by corpus
        # Published corpora and sets of TensorFlow Datasets (`TranslationSet`), which may be large.
        self.sets: dict[str, Any] = {}
        for one in self.weights:
            if one.startswith(TFDS):
                self.sets[one] = TranslationSet(one.removeprefix(TFDS), source, target)
            elif table.is_published(one):
                # Imported here because only these need the libraries for downloads.
                from keras_attn_data.published.corpus import PublishedCorpus

                # OPUS tells apart variants such as `zh_cn`.
                codes = [code if "_" in code else code_of(code) for code in (source, target)]
                self.sets[one] = PublishedCorpus(one, *codes)
        # Corpora without rows in validation and test; none if there are no others.
        own = [one for one in self.weights if one in BUILT_IN and BUILT_IN[one].training_only]
        self.training_only = own if len(own) < len(self.weights) else []
        self.num_parts = max(1, -(-sum(map(len, self.sets.values())) // PART_PAIRS))

    def read(self, part: int = 0) -> Raw:
        """A slice of each large set; in part 0 also all other corpora.

        Entries of `training_only` come last: a pair that another corpus holds is of that corpus.
        """
        raw = Raw([], {}, [])
        for name in sorted(self.weights, key=lambda one: one in self.training_only):
            weight = self.weights[name]
            if name in self.sets:
                pairs = self.sets[name].read(part, self.num_parts)
                raw.entries.extend(Entry(Pair(*pair), name, weight) for pair in pairs)
            elif part == 0 and name in BUILT_IN:
                read = _read_built_in(name, *self.languages)
                raw.entries.extend(one._replace(weight=weight * one.weight) for one in read)
            elif part == 0:
                lines = read_files(_paths(name), *self.languages)
                raw.entries.extend(Entry(pair, name, weight) for pair in lines if pair is not None)
                raw.broken[name] = [i for i, pair in enumerate(lines, start=1) if pair is None]
                raw.remarks.extend(formats.remarks(name, lines, *self.languages))
        return raw


def rights(name: str) -> tuple[str, str]:
    """Licence of a corpus, as model hubs name it, and the credit that it requires, or nothing."""
    if name in BUILT_IN:
        return BUILT_IN[name].licence, BUILT_IN[name].credit
    if table.is_published(name):
        return table.rights(name)
    return "other", ""


def readings(name: str) -> Mapping[str, str]:
    """Kana of Japanese words and of beginnings of their forms, from `jmdict` if `name` holds it."""
    # Not from the cache alone: only with the corpus, the model carries its licence and credit, and
    # a resumed training finds the same readings.
    if "jmdict" not in _weights(name):
        return {}
    return importlib.import_module("keras_attn_data.jmdict.readings").readings()


def split_names(name: str) -> list[str]:
    """Names of the corpora in `name`; the name of a file may hold ` + `."""
    return [name] if Path(name).expanduser().exists() else name.split(AND)


def without_folders(names: Iterable[str]) -> list[str]:
    """Names of corpora without the folders of files, unless two names would be equal."""
    names = list(names)
    short = [
        name if name.startswith(TFDS) else ",".join(Path(side).name for side in name.split(","))
        for name in names
    ]
    return short if len(set(short)) == len(names) else names


def _weights(name: str) -> dict[str, float]:
    """Weights of the corpora in `name`, by corpus."""
    weights: dict[str, float] = {}
    for one in split_names(name):
        weight = 1.0
        if (match := _WEIGHTED.fullmatch(one)) and not Path(one).expanduser().exists():
            one, number = match.groups()
            try:
                weight = float(number)
            except ValueError:
                weight = math.nan
            if not 0 < weight <= MAX_WEIGHT:
                raise ValueError(
                    f"The weight of a corpus must be a number above 0, at most {MAX_WEIGHT:,}. "
                    f"Received: {number!r} in data={name!r}."
                )
        if one in weights:
            raise ValueError(f"A corpus must be named once. Received: {one!r} twice in {name!r}.")
        weights[one] = weight
    return weights


def _paths(name: str) -> list[Path]:
    """Path of a file, or of two files of sources and translations."""
    whole = Path(name).expanduser()
    paths = [whole] if whole.exists() else [Path(side).expanduser() for side in name.split(",")]
    missing = [str(path) for path in paths if not path.exists()]
    if len(paths) == 2 and len(missing) == 1:
        raise ValueError(
            "Both files of a corpus must exist. "
            f"Received: data={name!r}, of which there is no `{missing[0]}`."
        )
    if missing or len(paths) > 2:
        names = ", ".join([*sorted([*BUILT_IN, *table.PUBLISHED]), f"{table.OPUS}CORPUS"])
        raise ValueError(
            f"There is no corpus of this name and no such file. Expected one of {names}, "
            f"{TFDS}NAME, the path of a TSV file, or two paths and a comma. "
            f"Received: data={name!r}."
        )
    return paths


class TranslationSet:
    """Split `train` of a translation set of TensorFlow Datasets, read one slice at a time."""

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
        languages = ", ".join(sorted(self._builder.info.features))
        if not {source, target} <= set(self._builder.info.features):
            raise ValueError(
                f"The set `{name}` must have texts in `{source}` and `{target}`. "
                f"Received: a set of {languages}."
            )
        if not self._builder.info.splits:
            _prepare(self._builder, name)
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
        if start == stop:  # which TensorFlow Datasets rejects
            return []
        # As one batch: one example after another takes four times as long.
        rows: Any = tfds.as_numpy(
            self._builder.as_dataset(split=f"train[{start}:{stop}]", batch_size=-1)
        )
        sides = ([text.decode("utf-8") for text in rows[side]] for side in self._languages)
        return list(map(Pair, *sides))


def _prepare(builder: Any, name: str) -> None:
    """Download a data set, with one line in place of those of TensorFlow Datasets."""
    print(f"Preparing {name}", end="", file=sys.stderr, flush=True)
    counted = ""
    try:
        with redirect_stdout(io.StringIO()):
            builder.download_and_prepare()
        if "train" in builder.info.splits:
            counted = f" ({builder.info.splits['train'].num_examples:,} pairs)"
    except Exception as error:  # each set has its own download code and exceptions
        raise OSError(
            f"The set `{name}` of TensorFlow Datasets cannot be downloaded to "
            f"`{builder.data_dir}`: {_first_line(error)}"
        ) from error
    finally:
        print(counted, file=sys.stderr, flush=True)


def _first_line(error: Exception) -> str:
    """Type of an error and the first line of its message, which may be empty or pages long."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _read_built_in(name: str, source: str, target: str) -> list[Entry]:
    codes = code_of(source), code_of(target)
    if sorted(codes) != ["en", "ja"]:
        raise ValueError(
            f"The corpus `{name}` translates from ja to en or from en to ja. "
            f"Received: source={source!r}, target={target!r}."
        )
    examples = importlib.import_module(f"keras_attn_data.{BUILT_IN[name].module}").examples()
    # The order of the set that `tfds.load` makes of the same examples: pairs of one pattern are
    # spread over the corpus.
    shuffled = sorted(examples, key=lambda item: md5(f"train{item[0]}".encode()).digest())
    source, target = codes
    return [
        Entry(
            Pair(row[source], row[target]), name, row.get("weight", 1.0), row.get("combination", "")
        )
        for _, row in shuffled
    ]
