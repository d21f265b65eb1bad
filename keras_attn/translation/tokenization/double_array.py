"""Double-array trie: a trie in arrays, for parallel lookup at many positions of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

NONE = -1


class DoubleArray(NamedTuple):
    """Trie stored in arrays.

    Reference: Aoe 1989, "An efficient digital search algorithm by using a double-array structure".
    Node 0 is the root. The child of node `n` for symbol `s >= 1` is `c = base[n] + s`, if
    `check[c] == n`; otherwise there is no such child.

    Attributes:
        base: Offset of the children of each node.
        check: Parent of each node, `NONE` for unused slots.
        value: Index of the key that ends at each node, or `NONE`.
    """

    base: np.ndarray
    check: np.ndarray
    value: np.ndarray


def build(keys: Sequence[Sequence[int]]) -> DoubleArray:
    """Build the trie of `keys`.

    Args:
        keys: Distinct, non-empty sequences of symbols. Each symbol is at least 1.

    Example:

    >>> trie = build([[1, 2], [1], [3]])
    >>> one = trie.base[0] + 1
    >>> int(trie.value[one]), int(trie.value[trie.base[one] + 2]), int(trie.check[one])
    (1, 0, 0)
    """
    children: list[dict[int, int]] = [{}]
    keys_at = [NONE]
    for number, key in enumerate(keys):
        node = 0
        for symbol in key:
            if symbol not in children[node]:
                children[node][symbol] = len(children)
                children.append({})
                keys_at.append(NONE)
            node = children[node][symbol]
        keys_at[node] = number
    widest = max((symbol for symbols in children for symbol in symbols), default=0)
    size = 2 * len(children) + widest + 1
    base, check, value = (np.full(size, NONE, np.int32) for _ in range(3))
    is_free = np.ones(size, bool)
    is_free[0] = False
    first_free = 1
    slots = {0: 0}
    # Breadth first, because nodes with many children are easiest to place while the array is empty.
    nodes = [0]
    for node in nodes:
        slot = slots[node]
        value[slot] = keys_at[node]
        symbols = np.array(sorted(children[node]))
        if not len(symbols):
            continue
        candidate = first_free
        while not is_free[candidate + symbols - symbols[0]].all():
            candidate += 1
        base[slot] = candidate - symbols[0]
        for symbol in symbols:
            child = children[node][symbol]
            slots[child] = base[slot] + symbol
            check[slots[child]] = slot
            is_free[slots[child]] = False
            nodes.append(child)
        while not is_free[first_free]:
            first_free += 1
    used = int(np.flatnonzero(~is_free)[-1]) + 1 + widest
    return DoubleArray(base[:used], check[:used], value[:used])
