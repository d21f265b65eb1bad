"""Probabilities of source pieces, given a piece of the translation; learned from the pairs."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

# Pieces of each side that a lexicon knows, the first ones, which are the likeliest. A table of both
# has 256 MiB at most.
MOST_PIECES = 8192
MOST_CELLS = 25_000_000  # pieces of one side times pieces of the other, summed over the pairs
# Smaller probabilities are left out. All have it added, so that a missing one has a logarithm too.
FLOOR = 1e-3
_ROUNDS = 5  # of expectation maximization


class Lexicon(NamedTuple):
    """Probabilities `P(source piece | target piece)` that are above `FLOOR`.

    Target 0, which is padding, stands for no piece: it explains what has no counterpart.

    Attributes:
        num_sources: Number of source pieces, the first ones, that the lexicon knows.
        keys: Increasing int32 `(N,)`, `target * num_sources + source`.
        log_probs: float16 `(N,)`, `log(P + FLOOR)`.
    """

    num_sources: int
    keys: np.ndarray
    log_probs: np.ndarray

    def save(self, path: Path) -> None:
        """Write a file that `load` reads."""
        np.savez_compressed(path, **self._asdict())

    @classmethod
    def load(cls, path: Path) -> Lexicon:
        """Read a file that `save` wrote; `ValueError` if it is something else."""
        try:
            with np.load(path) as parts:
                return cls(int(parts["num_sources"]), parts["keys"], parts["log_probs"])
        except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
            raise ValueError(f"`{path}` is not the lexicon of a translator.") from error


def learn(sides: Sequence[Sequence[np.ndarray]], sizes: Sequence[int], seed: int) -> Lexicon:
    """Learn a lexicon by IBM Model 1 (Brown et al. 1993, section 4.1).

    Each source piece of a pair comes from one of the target pieces, or from none. The probability
    of each is estimated by expectation maximization.

    Args:
        sides: Source and target ids of each pair, integers `(S,)` and `(T,)`, without EOS.
        sizes: Numbers of source and target pieces.
        seed: Draws the pairs that are counted, if there are many.
    """
    num_sources, num_targets = (min(size, MOST_PIECES) for size in sizes)
    cells, lengths = [], []
    for number in draw(sides, MOST_CELLS, np.random.default_rng(seed)):
        source, target = (side[number].astype(np.int32) for side in sides)
        source = source[source < num_sources]
        target = np.append(np.int32(0), target[target < num_targets])
        cells.append((source[:, None] + target * num_sources).ravel())
        lengths.append(np.full(len(source), len(target)))
    of_cells, choices = np.concatenate(cells), np.concatenate(lengths)
    # Each key once, and the place of the key of each cell.
    places = np.zeros(num_sources * num_targets, np.int32)
    places[of_cells] = 1
    keys = np.flatnonzero(places).astype(np.int32)
    places[keys] = np.arange(len(keys))
    of_cells = places[of_cells]
    starts, targets = np.cumsum(choices) - choices, keys // num_sources
    probs = np.ones(len(keys), np.float32)
    for _ in range(_ROUNDS):
        shares = probs[of_cells]
        shares /= np.repeat(np.add.reduceat(shares, starts), choices)
        counts = np.bincount(of_cells, shares, len(keys))
        probs = (counts / np.bincount(targets, counts)[targets]).astype(np.float32)
    kept = probs > FLOOR
    return Lexicon(num_sources, keys[kept], np.log(probs[kept] + FLOOR).astype(np.float16))


def draw(
    sides: Sequence[Sequence[np.ndarray]], num_cells: int, random: np.random.Generator
) -> np.ndarray:
    """Draw pairs, at least one, whose source pieces times target pieces are up to `num_cells`."""
    chosen = random.permutation(len(sides[0]))
    total = np.cumsum([len(sides[0][i]) * len(sides[1][i]) for i in chosen])
    return chosen[: max(1, np.searchsorted(total, num_cells))]
