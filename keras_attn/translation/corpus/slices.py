"""Training pairs in parts, read one at a time, so that memory does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.sources import TranslationSet

# Number of pairs of TensorFlow Datasets that are in memory at a time.
PART_PAIRS = 200_000


class Part(NamedTuple):
    """Training pairs in memory at the same time, with weights.

    A pair of weight `w` is drawn `w` times an epoch on average.
    """

    pairs: list[Pair]
    weights: list[float]


@dataclass(frozen=True)
class Parts:
    """Training pairs of several corpora; later slices of large sets are read when needed.

    Attributes:
        read: Pairs in memory, each with the name of its corpus and its weight: the first slice of
            each set, and all pairs of each other corpus. The latter are distributed over the parts.
        weights: Weight of each set, by name.
        sets: Sets of TensorFlow Datasets, by name.
        num_parts: Number of parts.
        clean: Function that returns the usable pairs of a later slice.
    """

    read: list[tuple[Pair, str, float]]
    weights: dict[str, float]
    sets: dict[str, TranslationSet]
    num_parts: int
    clean: Callable[[list[Pair]], list[Pair]]

    def part(self, number: int) -> Part:
        """Part of index `number`, from 0."""
        weighted = [
            (pair, weight)
            for i, (pair, name, weight) in enumerate(self.read)
            if (number == 0 if name in self.sets else i % self.num_parts == number)
        ]
        if number:
            for name, translation_set in self.sets.items():
                pairs = self.clean(translation_set.read(number, self.num_parts))
                weighted += [(pair, self.weights[name]) for pair in pairs]
        return Part([pair for pair, _ in weighted], [weight for _, weight in weighted])


def number_of_parts(num_pairs: int) -> int:
    """Number of parts for `num_pairs` pairs of TensorFlow Datasets, at least 1."""
    return max(1, -(-num_pairs // PART_PAIRS))
