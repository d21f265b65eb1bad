"""Splits without leakage: pairs that share a sentence are in the same split."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from keras_attn.translation.corpus.cleaning import Pair

# The hash of a group has 10,000 values: below `TEST` is test, below `VALIDATION` is validation, the
# rest is training.
BUCKETS = 10_000
TEST = 100
VALIDATION = 200


class Example(NamedTuple):
    """Source sentence with references; the first reference is the target of its own pair."""

    source: str
    references: tuple[str, ...]


class Splits(NamedTuple):
    """Training pairs, and validation and test examples.

    Attributes:
        train: Training pairs.
        positions: `positions[i]` is the index of `train[i]` in the input.
        validation: One example for each validation group.
        test: One example for each test group.
        groups: Number of groups of connected pairs.
        withheld: Number of pairs in validation and test groups beyond one pair for each group.
    """

    train: list[Pair]
    positions: list[int]
    validation: list[Example]
    test: list[Example]
    groups: int
    withheld: int


def normalise(text: str) -> str:
    """Key for comparing sentences: NFKC, lower case, letters and digits only.

    The key of a text without letters and digits is its NFKC form.

    Example:

    >>> normalise("It's  ＯＫ!")
    'itsok'
    """
    text = unicodedata.normalize("NFKC", text)
    return "".join(filter(str.isalnum, text.lower())) or text


def split(
    pairs: Sequence[Pair], combinations: Sequence[str] | None = None, anchor: int = 0
) -> Splits:
    """Divide pairs into training, validation and test.

    Two pairs are connected if their normalised sources, normalised targets or combinations are
    equal. All pairs of a connected group are in the same split. The split is chosen by the sha256
    of the smallest normalised anchor sentence of the group. If validation or test would be empty,
    it gets the group with the lowest hash. The result does not depend on the order of the pairs,
    nor on the direction of translation if the anchor is on the same language.

    Args:
        pairs: Cleaned pairs, without duplicates.
        combinations: Further connections, one string for each pair: pairs with equal strings are
            connected, empty strings are ignored. Defaults to None.
        anchor: Side that chooses the split of a group: 0 for source, 1 for target. Defaults to 0.

    Raises:
        ValueError: If the pairs form fewer than three groups.
    """
    keys = normalised_sides(pairs)
    groups = connected(keys, combinations)
    if len(groups) < 3:
        raise ValueError(
            "A corpus must hold at least 3 groups of pairs that share no sentence, one each for "
            f"training, validation and test. Received: {len(groups)} in {len(pairs)} pairs after "
            "cleaning. Add more sentences."
        )
    placed = sorted((_placement(min(keys[i][anchor] for i in group)), group) for group in groups)
    buckets = [bucket for (bucket, _), _ in placed]
    num_test = sum(bucket < TEST for bucket in buckets)
    num_validation = sum(bucket < VALIDATION for bucket in buckets) - num_test
    num_test = min(max(num_test, 1), len(groups) - 2)
    num_validation = min(max(num_validation, 1), len(groups) - 1 - num_test)
    ordered = [group for _, group in placed]
    held_out = ordered[: num_test + num_validation]
    examples = [_example(group, pairs, keys, anchor) for group in held_out]
    positions = sorted(i for group in ordered[len(held_out) :] for i in group)
    return Splits(
        train=[pairs[i] for i in positions],
        positions=positions,
        validation=examples[num_test:],
        test=examples[:num_test],
        groups=len(groups),
        withheld=sum(map(len, held_out)) - len(held_out),
    )


def without_shared(pairs: Sequence[Pair], held_out: Sequence[Example]) -> list[Pair]:
    """Pairs that share no normalised sentence with validation or test examples, on either side.

    Example:

    >>> without_shared([Pair("犬。", "A dog."), Pair("猫。", "A cat.")], [Example("犬", ("Dog",))])
    [Pair(source='猫。', target='A cat.')]
    """
    sources, targets = normalised_sentences(held_out)
    return [
        pair
        for pair, (source, target) in zip(pairs, normalised_sides(pairs), strict=True)
        if source not in sources and target not in targets
    ]


def normalised_sides(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """Normalised source and target of each pair."""
    return [(normalise(pair.source), normalise(pair.target)) for pair in pairs]


def normalised_sentences(examples: Sequence[Example]) -> tuple[set[str], set[str]]:
    """All normalised sources and all normalised references of examples."""
    sources = {normalise(example.source) for example in examples}
    return sources, {normalise(text) for example in examples for text in example.references}


def connected(
    keys: Sequence[tuple[str, str]], combinations: Sequence[str] | None
) -> list[list[int]]:
    """Groups of positions of connected pairs, by union-find over equal strings.

    Args:
        keys: Normalised sides of each pair.
        combinations: Further connections, as in `split`.
    """
    parents = list(range(len(keys)))

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    connections: list[Sequence[str]] = [list(side) for side in zip(*keys, strict=True)]
    for strings in [*connections, *([combinations] if combinations is not None else [])]:
        first: dict[str, int] = {}
        for i, string in enumerate(strings):
            if string:  # pairs without a combination are not connected
                parents[root(i)] = root(first.setdefault(string, i))
    groups: dict[int, list[int]] = {}
    for i in range(len(keys)):
        groups.setdefault(root(i), []).append(i)
    return list(groups.values())


def _placement(anchor: str) -> tuple[int, int]:
    """Bucket of a group, and the hash, which orders groups of equal bucket."""
    number = int(hashlib.sha256(anchor.encode("utf-8")).hexdigest(), 16)
    return number % BUCKETS, number


def _example(
    group: Sequence[int], pairs: Sequence[Pair], keys: Sequence[tuple[str, str]], anchor: int
) -> Example:
    def order(i: int) -> tuple[str, ...]:
        first, second = pairs[i][anchor], pairs[i][1 - anchor]
        return keys[i][anchor], first, keys[i][1 - anchor], second

    own, *others = sorted(group, key=order)
    same_source = [i for i in others if keys[i][0] == keys[own][0]]
    references = dict.fromkeys(pairs[i].target for i in (own, *same_source))
    return Example(pairs[own].source, tuple(references))
