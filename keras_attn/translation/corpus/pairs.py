"""Sentence pairs, as corpora hold them and as a training uses them."""

from typing import NamedTuple


class Pair(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str


class Entry(NamedTuple):
    """A pair of a corpus."""

    pair: Pair
    corpus: str = ""
    weight: float = 1.0  # number of times that an epoch shows the pair, on average
    combination: str = ""  # pairs with equal ones must be in the same split


class WeightedPairs(NamedTuple):
    """Training pairs in memory; a pair of weight `w` is drawn `w` times an epoch on average."""

    pairs: list[Pair]
    weights: list[float]
