"""Test sets that training must not see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from keras_attn.translation.config import AND
from keras_attn.translation.corpus import splits
from keras_attn.translation.corpus.cleaning import Cleaned
from keras_attn.translation.corpus.splits import Example


class HeldOut(NamedTuple):
    """A test set that no pair of the corpus may share a sentence with.

    Attributes:
        name: Name of the test set in reports.
        examples: One example for each line of the test set.
        num_pairs: Number of pairs of the corpus that were left out because of the test set.
    """

    name: str
    examples: list[Example]
    num_pairs: int = 0


def leave_out(
    cleaned: Cleaned, combinations: Sequence[str], held_out: Sequence[HeldOut]
) -> tuple[Cleaned, list[HeldOut]]:
    """Leave out every group of connected pairs that shares a sentence with a held-out test set.

    Sentences are compared in normalised form, each side with the same side of the test set. A whole
    group leaves the corpus (`splits.split` says which pairs are connected): near copies of a test
    sentence are neither in training, nor in validation, which may choose the model, nor in the test
    split. The splits of the other groups do not change.

    Args:
        cleaned: Pairs of the corpus.
        combinations: One string for each pair of the corpus, in the order before cleaning.
        held_out: Test sets.

    Returns:
        The pairs that are left, and the test sets with the numbers of pairs that each one left out.
        A pair may count for several test sets.

    Raises:
        ValueError: If no pair is left.
    """
    keys = splits.normalised_sides(cleaned.pairs)
    sentences = [splits.normalised_sentences(test_set.examples) for test_set in held_out]
    left: list[int] = []
    num_pairs = [0] * len(held_out)
    for group in splits.connected(keys, [combinations[i] for i in cleaned.positions]):
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
            f"leaves none of {len(cleaned.pairs):,} pairs."
        )
    left.sort()
    rest = Cleaned(
        [cleaned.pairs[i] for i in left],
        [cleaned.positions[i] for i in left],
        cleaned.dropped,
        cleaned.duplicates,
    )
    return rest, [
        test_set._replace(num_pairs=count)
        for test_set, count in zip(held_out, num_pairs, strict=True)
    ]
