"""Buckets of pairs of similar length, to limit padding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


def plan_buckets(lengths: np.ndarray, max_padding: float) -> list[np.ndarray]:
    """Divide pairs into buckets with a share of padding of at most `max_padding`.

    Each bucket is padded to its longest source and its longest target. The search is greedy: it
    starts with one bucket and repeats the split, by side and length, that saves most padding.

    Args:
        lengths: Source and target length of each pair, at least 1, integers `(N, 2)`.
        max_padding: Maximum share of padding in all padded tokens.

    Returns:
        Index arrays into `lengths`, a partition of its rows.
    """
    groups = [np.arange(len(lengths))]
    splits = [_best_split(lengths, groups[0])]
    real = lengths.sum()
    padded = _padded_tokens(lengths)
    while padded - real > max_padding * padded:
        widest = max(range(len(groups)), key=lambda i: splits[i].saving)
        group, split = groups.pop(widest), splits.pop(widest)
        short = lengths[group, split.side] <= split.length
        for part in (group[short], group[~short]):
            groups.append(part)
            splits.append(_best_split(lengths, part))
        padded -= split.saving
    return groups


class _Split(NamedTuple):
    saving: int  # number of padding tokens saved
    side: int  # 0 source, 1 target
    length: int  # maximum length on `side` in the bucket of shorter pairs


def _padded_tokens(lengths: np.ndarray) -> int:
    return int(len(lengths) * lengths.max(axis=0).sum())


def _best_split(lengths: np.ndarray, group: np.ndarray) -> _Split:
    best = _Split(0, 0, 0)
    whole = _padded_tokens(lengths[group])
    for side in (0, 1):
        order = lengths[group][np.argsort(lengths[group, side], kind="stable")]
        longest_before = np.maximum.accumulate(order, axis=0)
        longest_after = np.maximum.accumulate(order[::-1], axis=0)[::-1]
        cuts = np.flatnonzero(np.diff(order[:, side])) + 1
        if not len(cuts):
            continue
        before = cuts * longest_before[cuts - 1].sum(axis=1)
        after = (len(order) - cuts) * longest_after[cuts].sum(axis=1)
        savings = whole - before - after
        cut = int(np.argmax(savings))
        if savings[cut] > best.saving:
            best = _Split(int(savings[cut]), side, int(order[cuts[cut] - 1, side]))
    return best
