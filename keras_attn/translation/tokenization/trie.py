"""Trie lookup in the graph: all pieces of a vocabulary that end at each position of a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from keras_attn.translation.tokenization import double_array
from keras_attn.translation.tokenization.double_array import NONE

_PAGE = 256  # code points


class Trie:
    """Trie of a vocabulary; finds all pieces in all texts in parallel.

    Args:
        pieces: Distinct strings of at least one character.

    Attributes:
        longest: Length of the longest piece, in characters.
    """

    def __init__(self, pieces: Sequence[str]):
        characters = sorted({ord(character) for piece in pieces for character in piece})
        symbols = {code_point: number for number, code_point in enumerate(characters, start=1)}
        keys = [[symbols[ord(character)] for character in piece] for piece in pieces]
        self._nodes = double_array.build(keys)
        self.longest = max(map(len, pieces))
        # Two-level table from code points to symbols. Pages without a character of the vocabulary
        # share page 0, in which every symbol is 0.
        used = sorted({code_point // _PAGE for code_point in characters})
        self._pages = np.zeros(0x110000 // _PAGE, np.int32)
        self._pages[used] = np.arange(1, len(used) + 1)
        self._symbols = np.zeros((len(used) + 1) * _PAGE, np.int32)
        for code_point, symbol in symbols.items():
            self._symbols[self._pages[code_point // _PAGE] * _PAGE + code_point % _PAGE] = symbol

    def __call__(self, code_points: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        """Find the pieces in each text.

        Args:
            code_points: Int32 `(B, M)`.
            lengths: Number of code points of each text, int32 `(B,)`.

        Returns:
            Int32 `(longest, B, M)`: at `[n - 1]`, the index of the piece of `n` characters that
            ends at each position, or `NONE`.
        """
        base, check, value = map(tf.constant, self._nodes)
        page = tf.gather(tf.constant(self._pages), code_points // _PAGE)
        symbols = tf.gather(tf.constant(self._symbols), page * _PAGE + code_points % _PAGE)
        symbols = tf.where(tf.range(tf.shape(symbols)[1]) < lengths[:, None], symbols, 0)

        def is_left(size, node, found):
            return size < self.longest

        # At each position, `node` is the node of the characters before it: one more in each step. A
        # loop, because XLA would compile each step of an unrolled one by itself.
        def descend(size, node, found):
            child = tf.maximum(tf.gather(base, tf.maximum(node, 0)) + symbols, 0)
            is_alive = (node != NONE) & (symbols > 0) & (tf.gather(check, child) == node)
            found = found.write(size, tf.where(is_alive, tf.gather(value, child), NONE))
            node = tf.pad(tf.where(is_alive, child, NONE), [[0, 0], [1, 0]], constant_values=NONE)
            return size + 1, tf.ensure_shape(node[:, :-1], symbols.shape), found

        found = tf.TensorArray(tf.int32, size=self.longest, element_shape=[None, None])
        *_, found = tf.while_loop(is_left, descend, (0, tf.zeros_like(symbols), found))
        return found.stack()
