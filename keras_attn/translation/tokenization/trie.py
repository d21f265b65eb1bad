"""Trie lookup in the graph: all pieces of a vocabulary that begin at each position of a text."""

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

    def __call__(self, code_points: tf.Tensor, lengths: tf.Tensor) -> list[tf.Tensor]:
        """Find the pieces in each text.

        Args:
            code_points: Int32 `(B, M)`.
            lengths: Number of code points of each text, int32 `(B,)`.

        Returns:
            One int32 tensor `(B, M)` for each `n` from 1 to `longest`: the index of the piece of
            `n` characters that begins at each position, or `NONE`.
        """
        base, check, value = map(tf.constant, self._nodes)
        page = tf.gather(tf.constant(self._pages), code_points // _PAGE)
        symbols = tf.gather(tf.constant(self._symbols), page * _PAGE + code_points % _PAGE)
        places = tf.shape(symbols)[1]
        symbols = tf.where(tf.range(places) < lengths[:, None], symbols, 0)
        node, is_alive = tf.zeros_like(symbols), tf.ones_like(symbols, tf.bool)
        found = []
        for distance in range(self.longest):
            symbol = tf.pad(symbols, [[0, 0], [0, distance]])[:, distance:]
            child = tf.maximum(tf.gather(base, node) + symbol, 0)
            is_alive &= (symbol > 0) & (tf.gather(check, child) == node)
            node = tf.where(is_alive, child, 0)
            found.append(tf.where(is_alive, tf.gather(value, node), NONE))
        return found
