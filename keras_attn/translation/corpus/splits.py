"""Splits without leakage: pairs that share a sentence are in the same split, or left out."""

import csv
import hashlib
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from keras_attn.languages import code_of
from keras_attn.translation.config import AND
from keras_attn.translation.corpus.pairs import Entry

# The hash of a group has 10,000 values: below `TEST` is test, below `VALIDATION` is validation, the
# rest is training.
BUCKETS = 10_000
TEST = 100
VALIDATION = 200


class Example(NamedTuple):
    """Source sentence with references; the first reference is the target of its own pair."""

    source: str
    references: tuple[str, ...]


class HeldOut(NamedTuple):
    """A test set that no pair of the corpus may share a sentence with."""

    name: str  # in reports
    examples: list[Example]  # one for each line
    num_pairs: int = 0  # pairs of the corpus that were left out because of it


class Splits(NamedTuple):
    """Training entries, and one example for each validation group and each test group."""

    train: list[Entry]
    validation: list[Example]
    test: list[Example]
    test_corpora: list[str]  # name of the corpus of each test example
    groups: int  # number of groups of connected pairs
    # Pairs in validation and test groups beyond one pair for each group, and pairs that are never
    # trained on.
    withheld: int


def normalise(text: str) -> str:
    """Key for comparing sentences: NFKC, lower case, letters and digits only.

    The key of a text without letters and digits is its NFKC form.

    >>> normalise("It's  ＯＫ!")
    'itsok'
    """
    text = unicodedata.normalize("NFKC", text)
    return "".join(filter(str.isalnum, text.lower())) or text


def in_the_wild() -> Path:
    """File of 400 Japanese sentences as people type them, written independently of the corpora."""
    import keras_attn_data

    return Path(next(iter(keras_attn_data.__path__))) / "in_the_wild.tsv"


def unseen(source: str, target: str) -> list[Example]:
    """Sentences of `in_the_wild`, without translations, on the Japanese side of a training."""
    with in_the_wild().open(encoding="utf-8", newline="") as file:
        texts = [row["ja"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    if code_of(source) == "ja":
        return [Example(text, ()) for text in texts]
    return [Example("", (text,)) for text in texts] if code_of(target) == "ja" else []


def leave_out(
    entries: Sequence[Entry], held_out: Sequence[HeldOut]
) -> tuple[list[Entry], list[HeldOut]]:
    """Leave out every group of connected pairs that shares a sentence with a held-out test set.

    A whole group (`split`) leaves the corpus: near copies of a test sentence are in no split. The
    splits of the other groups do not change. A pair may count for several test sets.
    """
    keys = _keys(entries)
    sentences = [_normalised_sentences(test_set.examples) for test_set in held_out]
    left: list[int] = []
    num_pairs = [0] * len(held_out)
    for group in connected(keys):
        shares = [
            any(keys[i][0] in sources or keys[i][1] in targets for i in group)
            for sources, targets in sentences
        ]
        if not any(shares):
            left += group
        for number, is_shared in enumerate(shares):
            num_pairs[number] += len(group) * is_shared
    if not left:
        raise ValueError(
            "A corpus must hold pairs that share no sentence with the held-out test sets. "
            f"Received: hold_out={AND.join(test_set.name for test_set in held_out)!r}, which "
            f"leaves none of {len(entries):,} pairs."
        )
    counted = [one._replace(num_pairs=n) for one, n in zip(held_out, num_pairs, strict=True)]
    return [entries[i] for i in sorted(left)], counted


def split(
    entries: Sequence[Entry],
    anchor: int = 0,
    never_trained_on: Sequence[Example] = (),
    trains_on_all: bool = False,
) -> Splits:
    """Divide entries into training, validation and test.

    Two pairs are connected if their normalised sources, normalised targets or combinations are
    equal. All pairs of a connected group are in the same split. The split is chosen by the sha256
    of the smallest normalised sentence of the group on the side `anchor`, 0 for source or 1 for
    target. If validation or test would be empty, it gets the group with the lowest hash.

    Training pairs that share a sentence with an example of `never_trained_on` are withheld. With
    `trains_on_all`, all entries are training entries, and so are the examples.
    """
    keys = _keys(entries)
    groups = connected(keys)
    if len(groups) < (1 if trains_on_all else 3):
        raise ValueError(
            "A corpus must hold at least 3 groups of pairs that share no sentence, one each for "
            f"training, validation and test. Received: {len(groups)} in {len(entries)} pairs after "
            "cleaning. Add more sentences, or train on all with `--validation none`."
        )
    anchors = (min(keys[i][anchor] for i in group).encode("utf-8") for group in groups)
    numbers = [int(hashlib.sha256(sentence).hexdigest(), 16) for sentence in anchors]
    # By bucket, and by hash in a bucket.
    placed = sorted((n % BUCKETS, n, group) for n, group in zip(numbers, groups, strict=True))
    num_test = sum(bucket < TEST for bucket, _, _ in placed)
    num_validation = sum(bucket < VALIDATION for bucket, _, _ in placed) - num_test
    num_test = min(max(num_test, 1), max(len(groups) - 2, 1))
    num_validation = min(max(num_validation, 1), max(len(groups) - 1 - num_test, 0))
    ordered = [group for _, _, group in placed]
    apart = ordered[: num_test + num_validation]
    train = sorted(i for group in ordered[0 if trains_on_all else len(apart) :] for i in group)
    sources, targets = _normalised_sentences(never_trained_on)
    kept = [i for i in train if keys[i][0] not in sources and keys[i][1] not in targets]
    examples, corpora = zip(
        *(_example(group, entries, keys, anchor) for group in apart), strict=True
    )
    num_examples = 0 if trains_on_all else len(apart)
    return Splits(
        train=[entries[i] for i in kept],
        validation=list(examples[num_test:] or examples),
        test=list(examples[:num_test]),
        test_corpora=list(corpora[:num_test]),
        groups=len(groups),
        withheld=len(entries) - num_examples - len(kept),
    )


def without_shared(entries: Sequence[Entry], examples: Sequence[Example]) -> list[Entry]:
    """Entries that share no normalised sentence with examples, on either side."""
    sources, targets = _normalised_sentences(examples)
    return [
        entry
        for entry, (source, target, _) in zip(entries, _keys(entries), strict=True)
        if source not in sources and target not in targets
    ]


def connected(keys: Sequence[tuple[str, ...]]) -> list[list[int]]:
    """Groups of positions of keys with equal strings in the same place, by union-find.

    >>> connected([("a", "b", ""), ("c", "d", ""), ("e", "b", "")])
    [[0, 2], [1]]
    """
    parents = list(range(len(keys)))

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    for strings in zip(*keys, strict=True):
        first: dict[str, int] = {}
        for i, string in enumerate(strings):
            if string:
                parents[root(i)] = root(first.setdefault(string, i))
    groups: dict[int, list[int]] = {}
    for i in range(len(keys)):
        groups.setdefault(root(i), []).append(i)
    return list(groups.values())


def _keys(entries: Sequence[Entry]) -> list[tuple[str, str, str]]:
    """Normalised source and target of each entry, and its combination."""
    return [
        (normalise(entry.pair.source), normalise(entry.pair.target), entry.combination)
        for entry in entries
    ]


def _normalised_sentences(examples: Sequence[Example]) -> tuple[set[str], set[str]]:
    """All normalised sources and all normalised references of examples."""
    sources = {normalise(example.source) for example in examples}
    return sources, {normalise(text) for example in examples for text in example.references}


def _example(
    group: Sequence[int], entries: Sequence[Entry], keys: Sequence[tuple[str, ...]], anchor: int
) -> tuple[Example, str]:
    """Example of a group: its first pair by the anchor, with its references; and the corpus."""
    sides = anchor, 1 - anchor
    own, *others = sorted(
        group, key=lambda i: [row[side] for side in sides for row in (keys[i], entries[i].pair)]
    )
    same_source = [i for i in others if keys[i][0] == keys[own][0]]
    references = dict.fromkeys(entries[i].pair.target for i in (own, *same_source))
    return Example(entries[own].pair.source, tuple(references)), entries[own].corpus
