"""Trie lookup in the graph: all pieces of a vocabulary that end at each position of a text."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

NONE = -1
_PAGE = 256  # code points


class Trie:
    """Trie of distinct pieces of at least one character; finds all in all texts in parallel."""

    def __init__(self, pieces: Sequence[str]):
        characters = sorted({ord(character) for piece in pieces for character in piece})
        symbols = {code_point: number for number, code_point in enumerate(characters, start=1)}
        keys = [[symbols[ord(character)] for character in piece] for piece in pieces]
        # Variables, because a constant would be in each function of an export.
        self.variables = [tf.Variable(table, trainable=False) for table in build(keys)]
        self.longest = max(map(len, pieces))  # in characters
        # Two-level table from code points to symbols. Pages without a character of the vocabulary
        # share page 0, in which every symbol is 0.
        used = sorted({code_point // _PAGE for code_point in characters})
        self._pages = np.zeros(0x110000 // _PAGE, np.int32)
        self._pages[used] = np.arange(1, len(used) + 1)
        self._symbols = np.zeros((len(used) + 1) * _PAGE, np.int32)
        for code_point, symbol in symbols.items():
            self._symbols[self._pages[code_point // _PAGE] * _PAGE + code_point % _PAGE] = symbol

    def __call__(self, code_points: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        """Find the pieces in texts of code points `(B, M)`, of which `lengths` `(B,)` are valid.

        Returns int32 `(longest, B, M)`: at `[n - 1]`, the index of the piece of `n` characters
        that ends at each position, or `NONE`.
        """
        base, check, value = (table.read_value() for table in self.variables)
        page = tf.gather(tf.constant(self._pages), code_points // _PAGE)
        symbols = tf.gather(tf.constant(self._symbols), page * _PAGE + code_points % _PAGE)
        symbols = tf.where(tf.range(tf.shape(symbols)[1]) < lengths[:, None], symbols, 0)

        # At each position, `node` is the node of the characters before it: one more in each step.
        # A loop, because XLA would compile each step of an unrolled one by itself.
        def descend(size, node, found):
            child = tf.maximum(tf.gather(base, tf.maximum(node, 0)) + symbols, 0)
            is_alive = (node != NONE) & (symbols > 0) & (tf.gather(check, child) == node)
            found = found.write(size, tf.where(is_alive, tf.gather(value, child), NONE))
            node = tf.pad(tf.where(is_alive, child, NONE), [[0, 0], [1, 0]], constant_values=NONE)
            return size + 1, tf.ensure_shape(node[:, :-1], symbols.shape), found

        found = tf.TensorArray(tf.int32, size=self.longest, element_shape=[None, None])
        *_, found = tf.while_loop(
            lambda size, *_: size < self.longest, descend, (0, tf.zeros_like(symbols), found)
        )
        return found.stack()


def build(keys: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Build the double array of distinct, non-empty sequences of symbols, each at least 1.

    Node 0 is the root. The child of node `n` for symbol `s` is `c = base[n] + s`, if
    `check[c] == n`; otherwise there is none. `value[n]` is the index of the key that ends at node
    `n`, or `NONE` (Aoe 1989, "An efficient digital search algorithm by using a double-array
    structure"). Returns base, check and value.
    """
    root: dict = {}  # children by symbol; `NONE` stands for the end of a key
    num_nodes = 1
    for number, key in enumerate(keys):
        node = root
        for symbol in key:
            num_nodes += symbol not in node
            node = node.setdefault(symbol, {})
        node[NONE] = number
    widest = max((symbol for key in keys for symbol in key), default=0)
    size = 2 * num_nodes + widest + 1
    base, check, value = (np.full(size, NONE, np.int32) for _ in range(3))
    is_free = np.ones(size, bool)
    is_free[0] = False
    first_free = 1
    # Breadth first, because nodes with many children are easiest to place while the array is empty.
    nodes = [(root, 0)]
    for node, cell in nodes:
        value[cell] = node.pop(NONE, NONE)
        symbols = np.array(sorted(node))
        if not len(symbols):
            continue
        candidate = first_free
        while not is_free[candidate + symbols - symbols[0]].all():
            candidate += 1
        base[cell] = candidate - symbols[0]
        for symbol in symbols:
            child = base[cell] + symbol
            check[child] = cell
            is_free[child] = False
            nodes.append((node[symbol], child))
        while not is_free[first_free]:
            first_free += 1
    used = int(np.flatnonzero(~is_free)[-1]) + 1 + widest
    return base[:used], check[:used], value[:used]
