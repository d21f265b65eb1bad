"""Byte-pair encoding in the graph (Sennrich et al. 2016, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.translation.tokenization import double_array
from keras_attn.translation.tokenization.double_array import NONE
from keras_attn.translation.tokenization.trie import Trie
from keras_attn.translation.tokenization.unigram import NOTHING, UNKNOWN


class MergeDropout(NamedTuple):
    """BPE-dropout: probability `alpha` of skipping a merge, float32 `()`, and seed, int32 `()`."""

    alpha: tf.Tensor
    seed: tf.Tensor


class BytePairEncoding:
    """Byte-pair encoding: merges the adjacent pair whose piece has the highest score, repeatedly.

    Among equal pairs, the leftmost is merged first. Two adjacent characters that no piece contains
    side by side are never merged, so a text is divided into groups at these positions. All groups
    are merged in parallel.

    Args:
        pieces: Distinct pieces of at least one character.
        scores: Score of each piece; distinct, except for pieces of one character.
    """

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]):
        self._num_pieces = len(pieces)
        # Symbols are the pieces and all characters of pieces that are not pieces themselves.
        characters = sorted({character for piece in pieces for character in piece} - {*pieces})
        symbols = [*pieces, *characters]
        number = {symbol: i for i, symbol in enumerate(symbols)}
        self._characters = Trie([symbol for symbol in symbols if len(symbol) == 1])
        self._character_symbols = np.array(
            [i for i, symbol in enumerate(symbols) if len(symbol) == 1], np.int32
        )
        halves = [
            (number[piece[:i]], number[piece[i:]], number[piece])
            for piece in pieces
            for i in range(1, len(piece))
            if piece[:i] in number and piece[i:] in number
        ]
        self._pairs = double_array.build([(left + 1, right + 1) for left, right, _ in halves])
        self._joined = np.array([whole for *_, whole in halves] or [0], np.int32)
        self._ranks = np.argsort(np.argsort(-np.array(scores, np.float32), kind="stable"))
        inside = {
            (number[one] + 1, number[other] + 1)
            for piece in pieces
            for one, other in zip(piece, piece[1:], strict=False)
        }
        self._inside = double_array.build(sorted(inside))

    def __call__(
        self, code_points: tf.Tensor, lengths: tf.Tensor, sampling: MergeDropout | None = None
    ) -> tf.Tensor:
        """Segment each text into pieces.

        Args:
            code_points: Int32 `(B, M)`.
            lengths: Number of code points of each text, int32 `(B,)`.
            sampling: BPE-dropout (Provilkov et al. 2020): each merge is skipped with probability
                `alpha`. Defaults to None, no dropout.

        Returns:
            The piece that ends at each position, int32 `(B, M)`, as `Unigram` returns it.
        """
        batch, places = tf.unstack(tf.shape(code_points))
        found = self._characters(code_points, lengths)[0]
        symbols = tf.where(
            found == NONE, NONE, tf.gather(self._character_symbols, tf.maximum(found, 0))
        )
        index = tf.broadcast_to(tf.range(places), [batch, places])
        is_text = index < lengths[:, None]
        # Groups of positions; symbols of different groups are never merged.
        before = tf.pad(symbols, [[0, 0], [1, 0]], constant_values=NONE)[:, :-1]
        is_first = _look_up(self._inside, before, symbols) == NONE
        row = tf.range(batch)[:, None]
        group = row * places + tf.maximum(tf.cumsum(tf.cast(is_first, tf.int32), axis=1) - 1, 0)

        lots = _lots(sampling.seed, batch, places, self._num_pieces) if sampling else None

        def candidates(symbols, sizes):
            following = index + sizes
            right = tf.gather(symbols, tf.minimum(following, places - 1), batch_dims=1)
            is_pair = (symbols != NONE) & (sizes > 0) & (following < places)
            pair = _look_up(self._pairs, tf.where(is_pair, symbols, NONE), right)
            whole = tf.where(pair == NONE, NONE, tf.gather(self._joined, tf.maximum(pair, 0)))
            if sampling and lots:
                # One random number for each pair and position: a skipped merge stays skipped when
                # the same pair is a candidate again.
                of_left, of_right, of_piece = lots
                lot = of_left + tf.gather(of_right, tf.minimum(following, places - 1), batch_dims=1)
                lot += tf.gather(of_piece, tf.maximum(whole, 0))
                whole = tf.where(lot % 1.0 < sampling.alpha, NONE, whole)
            return whole, following

        def can_be_joined(symbols, sizes, whole, following):
            return tf.reduce_any(whole != NONE)

        def join(symbols, sizes, whole, following):
            rank = tf.gather(tf.constant(self._ranks, tf.int64), tf.maximum(whole, 0))
            order = rank * tf.cast(places, tf.int64) + tf.cast(index, tf.int64)
            order = tf.where(whole == NONE, tf.int64.max, order)
            first = tf.math.unsorted_segment_min(
                tf.reshape(order, [-1]), tf.reshape(group, [-1]), batch * places
            )
            is_joined = (whole != NONE) & (order == tf.gather(first, group))
            # The right half of a merged pair is no longer a symbol.
            target = tf.where(is_joined, following, places)
            indices = tf.stack([tf.broadcast_to(row, [batch, places]), target], axis=-1)
            ones = tf.ones([batch, places], tf.int32)
            is_half = tf.scatter_nd(indices, ones, [batch, places + 1])[:, :places] > 0
            half_size = tf.gather(sizes, tf.minimum(following, places - 1), batch_dims=1)
            sizes = tf.where(is_joined, sizes + half_size, tf.where(is_half, 0, sizes))
            symbols = tf.where(is_joined, whole, tf.where(is_half, NONE, symbols))
            return symbols, sizes, *candidates(symbols, sizes)

        sizes = tf.cast(is_text, tf.int32)
        start = (symbols, sizes, *candidates(symbols, sizes))
        symbols, sizes, *_ = tf.while_loop(can_be_joined, join, start)
        is_piece = (symbols != NONE) & (symbols < self._num_pieces)
        pieces = tf.where(is_piece, symbols + 1, UNKNOWN)
        target = tf.where(sizes > 0, index + sizes - 1, places)
        indices = tf.stack([tf.broadcast_to(row, [batch, places]), target], axis=-1)
        shape = [batch, places + 1]
        return tf.scatter_nd(indices, tf.where(sizes > 0, pieces, NOTHING), shape)[:, :places]


def _lots(seed: tf.Tensor, batch: tf.Tensor, places: tf.Tensor, num_pieces: int) -> list[tf.Tensor]:
    """Uniform random numbers for left halves `(B, M)`, right halves `(B, M)`, and pieces."""
    shapes = [batch, places], [batch, places], [num_pieces]
    return [tf.random.stateless_uniform(shape, [seed, i]) for i, shape in enumerate(shapes)]


def _look_up(pairs: double_array.DoubleArray, left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    """Index of each pair of symbols in `pairs`, or `NONE`."""
    base, check, value = map(tf.constant, pairs)
    node = tf.zeros_like(left)
    is_alive = tf.ones_like(left, tf.bool)
    for symbol in (left, right):
        child = tf.clip_by_value(tf.gather(base, node) + symbol + 1, 0, len(pairs.check) - 1)
        is_alive &= (symbol != NONE) & (tf.gather(check, child) == node)
        node = tf.where(is_alive, child, 0)
    return tf.where(is_alive, tf.gather(value, node), NONE)
