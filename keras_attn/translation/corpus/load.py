"""Corpora by name or by path -> cleaned pairs of sentences in splits that cannot leak."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from keras_attn.translation.corpus import cleaning, sources, splits
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.slices import Part, Parts, number_of_parts
from keras_attn.translation.corpus.sources import CREDITS, TFDS, Raw, TranslationSet
from keras_attn.translation.corpus.splits import Example

# Longest side of a pair. Longer lines are paragraphs, which no model here is trained to translate.
MAX_CHARACTERS = 500

# Between corpora, and between a corpus and its weight.
AND = " + "
_WEIGHTED = re.compile(r"(.+)=([-+.\w]+)")

# Each time that a pair comes in an epoch has a place in memory.
MAX_WEIGHT = 1000

# Broken lines that are named; the others are only counted.
MAX_NAMED_LINES = 10

# Scores on fewer test sentences than this swing by several points from chance alone.
MIN_TELLING_TEST = 100


@dataclass(frozen=True)
class Corpus:
    """Pairs to train on and sentences to evaluate on.

    Attributes:
        name: As given to `load_corpus`.
        source: Language code of the source side.
        target: Language code of the target side.
        train: Pairs to train on; the first part of them, if there are several.
        parts: Read the parts of the training pairs, with their weights; all pairs are one part,
            unless they come from large sets of TensorFlow Datasets.
        validation: One sentence of each validation group, with its references.
        test: One sentence of each test group, with its references.
        counts: `read` lines or pairs; those left out, by reason (`broken` lines, then
            `cleaning.REASONS`); `kept` is the rest, in that many `groups`, and the sum of
            `train`, `validation`, `test` and `withheld` (`splits.Splits`). Of the first part, if
            there are several.
        credit: Whom to name wherever the corpus is used; empty if nobody.
        warnings: Sentences for the user about what was found in the corpus.
    """

    name: str
    source: str
    target: str
    train: list[Pair]
    parts: Sequence[Callable[[], Part]] = field(repr=False)
    validation: list[Example]
    test: list[Example]
    counts: dict[str, int]
    credit: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def num_train(self) -> int:
        """Training pairs, about, those of all parts."""
        return len(self.train) * len(self.parts)

    def summary(self) -> str:
        """Counts, warnings and credit for the terminal."""
        counts = ", ".join(f"{name} {count:,}" for name, count in self.counts.items())
        lines = [f"Corpus {self.name}: {counts}", *(f"warning: {line}" for line in self.warnings)]
        return "\n".join([*lines, *([self.credit] if self.credit else [])])


def load_corpus(
    name: str, source: str = "ja", target: str = "en", max_characters: int = MAX_CHARACTERS
) -> Corpus:
    """Reads, cleans and splits a corpus, or several.

    Sets of TensorFlow Datasets of more than `slices.PART_PAIRS` pairs are read a part at a time, so
    that memory does not grow with them. The sentences of validation and test are then of the first
    part, and pairs of later parts that share a sentence with them are left out.

    Args:
        name: `everyday`, `tatoeba`, or the path of a UTF-8 file, plain or gzip, of lines
            `source TAB target`; further columns are ignored. Or the paths of two files, joined by
            a comma, with the sources and their translations line by line. Or `tfds:` and the name
            of a translation set of TensorFlow Datasets, whose split `train` is read. Or several of
            these, joined by ` + `, each with its weight if that is not 1: `tatoeba + own.tsv=3`
            shows each pair of `own.tsv` three times an epoch.
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
    weights = _weights(name)
    sets = _sets(weights, source, target)
    num_parts = number_of_parts(sum(map(len, sets.values())))
    raws = _read(weights, sets, num_parts, source, target)
    clean = partial(
        cleaning.clean,
        source_language=source,
        target_language=target,
        max_characters=max_characters,
    )
    cleaned = clean([pair for raw in raws.values() for pair in raw.pairs])
    counts = _counts(raws, cleaned)
    if not cleaned.pairs:
        raise ValueError(_nothing_left(name, source, target, counts))
    # An empty string, no combination, connects nothing.
    combinations = [c for raw in raws.values() for c in raw.combinations or [""] * len(raw.pairs)]
    # A group is placed by its Japanese side, so that both directions have the same splits.
    anchor = 1 if target == "ja" and source != "ja" else 0
    found = splits.split(cleaned.pairs, [combinations[i] for i in cleaned.positions], anchor)
    held_out = found.validation + found.test

    names = [one for one, raw in raws.items() for _ in raw.pairs]
    read = [names[cleaned.positions[i]] for i in found.positions]
    parts = Parts(
        list(zip(found.train, read, strict=True)),
        weights,
        sets,
        num_parts,
        lambda pairs: splits.without_shared(clean(pairs).pairs, held_out),
    )
    return Corpus(
        name=name,
        source=source,
        target=target,
        train=parts.part(0).pairs,
        parts=[partial(parts.part, i) for i in range(num_parts)],
        validation=found.validation,
        test=found.test,
        counts={
            **counts,
            "groups": found.groups,
            "train": len(found.train),
            "validation": len(found.validation),
            "test": len(found.test),
            "withheld": found.withheld,
            **({"parts": num_parts} if num_parts > 1 else {}),
        },
        credit=" ".join(filter(None, (CREDITS.get(one) for one in weights))),
        warnings=(
            *(_broken_lines(one, raw.broken) for one, raw in raws.items() if raw.broken),
            *_rough_scores(name, len(found.test)),
        ),
    )


def load_test_set(name: str, source: str = "ja", target: str = "en") -> list[Example]:
    """All sentences of a corpus, each with its translations as references, as they were written.

    Args:
        name: As `load_corpus` takes it.
        source: Language code of the source side.
        target: Language code of the target side.

    Raises:
        ValueError: If there is no such corpus or no pair in it.
        OSError: If a corpus that is not on this machine cannot be fetched.
    """
    references: dict[str, list[str]] = {}
    names = _weights(name)
    for raw in _read(names, _sets(names, source, target), 1, source, target).values():
        for pair in raw.pairs:
            if all(pair):
                references.setdefault(pair.source, []).append(pair.target)
    if not references:
        raise ValueError(f"A test set must hold sentences. Received: data={name!r}.")
    return [Example(text, tuple(known)) for text, known in references.items()]


def _weights(name: str) -> dict[str, float]:
    """The corpora that a name names, each with its weight."""
    found: dict[str, float] = {}
    for one in [name] if _is_file(name) else name.split(AND):
        weight = 1.0
        if (match := _WEIGHTED.fullmatch(one)) and not _is_file(one):
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
        if one in found:
            raise ValueError(f"A corpus must be named once. Received: {one!r} twice in {name!r}.")
        found[one] = weight
    return found


def _sets(names: Iterable[str], source: str, target: str) -> dict[str, TranslationSet]:
    return {
        name: TranslationSet(name.removeprefix(TFDS), source, target)
        for name in names
        if name.startswith(TFDS)
    }


def _read(
    names: Iterable[str],
    sets: dict[str, TranslationSet],
    num_parts: int,
    source: str,
    target: str,
) -> dict[str, Raw]:
    """The first slice of each set and all of every other corpus."""
    return {
        name: Raw(sets[name].read(0, num_parts))
        if name in sets
        else sources.read(name, source, target)
        for name in names
    }


def _is_file(name: str) -> bool:
    return Path(name).expanduser().exists()


def _counts(raws: dict[str, Raw], cleaned: cleaning.Cleaned) -> dict[str, int]:
    broken = sum(len(raw.broken) for raw in raws.values())
    return {
        "read": broken + sum(len(raw.pairs) for raw in raws.values()),
        "broken": broken,
        **cleaned.dropped,
        "kept": len(cleaned.pairs),
    }


def _nothing_left(name: str, source: str, target: str, counts: dict[str, int]) -> str:
    found = ", ".join(f"{reason} {count:,}" for reason, count in counts.items())
    hint = ""
    if counts["wrong_script"]:
        hint = f" If the columns are the other way round, use --source {target} --target {source}."
    return f"No pair of the corpus is left after cleaning. Received: data={name!r} ({found}).{hint}"


def _broken_lines(name: str, broken: Sequence[int]) -> str:
    named = ", ".join(map(str, broken[:MAX_NAMED_LINES]))
    more = ", ..." if len(broken) > MAX_NAMED_LINES else ""
    lines = "1 line" if len(broken) == 1 else f"{len(broken):,} lines"
    return f"{name}: {lines} without TAB or valid UTF-8 left out: {named}{more}."


def _rough_scores(name: str, num_test: int) -> list[str]:
    if num_test >= MIN_TELLING_TEST:
        return []
    sentences = "1 sentence" if num_test == 1 else f"{num_test} sentences"
    return [f"{name}: the test split has only {sentences}: its scores say little."]
