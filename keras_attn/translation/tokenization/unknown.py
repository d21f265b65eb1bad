"""Ids of characters without a piece of their own, in the graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from keras_attn.translation.special_ids import UNK_ID
from keras_attn.translation.tokenization import utf8
from keras_attn.translation.tokenization.fixed_shapes import NO_ID
from keras_attn.translation.tokenization.normalizer import Normalized
from keras_attn.translation.tokenization.trie import NONE, Trie


class ByteFallback:
    """Ids of the UTF-8 bytes of each character, int32 `(B, M, 4)`."""

    def __init__(self, values: np.ndarray):  # byte of each id, `utf8.NONE` for other ids
        self._ids = np.zeros(256, np.int32)
        is_byte = values != utf8.NONE
        self._ids[values[is_byte]] = np.flatnonzero(is_byte)

    def __call__(self, normalized: Normalized, is_unknown: tf.Tensor) -> tf.Tensor:
        values = utf8.encode(normalized.code_points)
        ids = tf.gather(tf.constant(self._ids), tf.maximum(values, 0))
        return tf.where(values == utf8.NONE, NO_ID, ids)


class RunsOfUnknown:
    """Id of each run of characters without a piece, at its end, int32 `(B, M, 1)`.

    A run is unknown, unless the other language of an imported model has a piece of this name.
    `known` are the pieces of this language, `unused` those of the other one with their ids.
    """

    def __init__(self, known: Sequence[str], unused: dict[str, int]):
        letters = set(known)
        runs = {piece: i for piece, i in unused.items() if letters.isdisjoint(piece)}
        self._ids = list(runs.values())
        self._trie = Trie(list(runs)) if runs else None

    def __call__(self, normalized: Normalized, is_unknown: tf.Tensor) -> tf.Tensor:
        places = tf.shape(is_unknown)[1]
        following = tf.pad(is_unknown, [[0, 0], [0, 1]])[:, 1:]
        ids = tf.where(is_unknown & ~following, UNK_ID, NO_ID)
        if self._trie is None:
            return ids[..., None]
        pieces = self._trie(normalized.code_points, normalized.lengths)
        is_run = is_unknown
        for size in range(1, self._trie.longest + 1):
            is_longer = tf.pad(is_unknown, [[0, 0], [size, 0]])[:, :places]
            piece = pieces[size - 1]
            is_found = is_run & ~is_longer & (ids == UNK_ID) & (piece != NONE)
            ids = tf.where(is_found, tf.gather(self._ids, tf.maximum(piece, 0)), ids)
            is_run &= is_longer
        return ids[..., None]
