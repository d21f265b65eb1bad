"""A trie as arrays, so that many places of a text can walk down it at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

NONE = -1


class DoubleArray(NamedTuple):
    """From node `n` by symbol `s`, at least 1, to node `base[n] + s` if `check` of that is `n`.

    The root is node 0. `value` of a node is the place of the key that ends there, `NONE` if none
    does (Aoe 1989, "An efficient digital search algorithm by using a double-array structure").
    """

    base: np.ndarray
    check: np.ndarray
    value: np.ndarray


def build(keys: Sequence[Sequence[int]]) -> DoubleArray:
    """The trie of some keys.

    Args:
        keys: Sequences of symbols, each at least 1; no key twice and none empty.

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
    # Breadth first: nodes with many children come early, while there is room for them.
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
