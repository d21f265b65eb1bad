"""Training pairs a part at a time, so that memory does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.sources import TranslationSet

# Pairs of sets of TensorFlow Datasets that are in memory at a time.
PART_PAIRS = 200_000


class Part(NamedTuple):
    """Training pairs that are in memory together; each comes `weight` times an epoch on average."""

    pairs: list[Pair]
    weights: list[float]


@dataclass(frozen=True)
class Parts:
    """The training pairs of several corpora, of which some are read when their turn comes.

    Attributes:
        read: The pairs that have been read, each with the name of its corpus: the first slice of
            each set, and all of every other corpus, which is dealt out to the parts.
        weights: The weight of each corpus.
        sets: The sets, by name.
        num_parts: Number of parts.
        clean: What is to be kept of the pairs of a later slice.
    """

    read: list[tuple[Pair, str]]
    weights: dict[str, float]
    sets: dict[str, TranslationSet]
    num_parts: int
    clean: Callable[[list[Pair]], list[Pair]]

    def part(self, number: int) -> Part:
        """The part of this number, from 0."""
        found = [
            (pair, name)
            for i, (pair, name) in enumerate(self.read)
            if (number == 0 if name in self.sets else i % self.num_parts == number)
        ]
        if number:
            for name, its in self.sets.items():
                found += [(pair, name) for pair in self.clean(its.read(number, self.num_parts))]
        return Part([pair for pair, _ in found], [self.weights[name] for _, name in found])


def number_of_parts(num_pairs: int) -> int:
    """Parts that so many pairs of sets make; without any, all is one part."""
    return max(1, -(-num_pairs // PART_PAIRS))
