"""The most probable way to cut text into pieces, in the graph (Kudo 2018, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from keras_attn.translation.double_array import NONE
from keras_attn.translation.trie_ops import Trie

# What a character without a piece costs beyond the piece of the lowest score.
UNKNOWN_PENALTY = 10.0
NOTHING, UNKNOWN = 0, -1


class Unigram:
    """Finds for each text the pieces whose scores have the highest sum (Viterbi 1967).

    The sums are those of the package sentencepiece to the last bit: in float32, from left to right,
    compared before they are rounded; of equal ones the first stays, whose last piece is longer.

    Args:
        pieces: Pieces of one character or more, no piece twice.
        scores: Their log probabilities.
    """

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]):
        self._trie = Trie(pieces)
        self._scores = np.array(scores, np.float32)
        self._unknown = np.float32(self._scores.min() - np.float32(UNKNOWN_PENALTY))

    def __call__(self, code_points: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        """Cuts each text.

        Args:
            code_points: Int32 `(B, M)`.
            lengths: How many of them count, int32 `(B,)`.

        Returns:
            What ends at each place, int32 `(B, M)`: 1 more than the number of a piece, `UNKNOWN`
            for a character that is none, `NOTHING` inside a piece.
        """
        found = self._trie(code_points, lengths)
        # The piece of so many characters that ends at each place, the longest first, as
        # sentencepiece meets them: `(M, longest, B)`.
        ending = [
            tf.pad(pieces, [[0, 0], [size, 0]], constant_values=NONE)[:, : tf.shape(pieces)[1]]
            for size, pieces in enumerate(found)
        ]
        pieces = tf.transpose(tf.stack(ending[::-1]), [2, 0, 1])
        best, sizes = self._best(pieces, tf.reduce_max(lengths))
        return tf.transpose(_last_to_first(best, sizes, lengths))

    def _best(self, pieces: tf.Tensor, longest: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The last piece of the best way up to each place, `(M, B)`, and its characters."""
        scores = tf.gather(tf.constant(self._scores), tf.maximum(pieces, 0))
        places, num_sizes, batch = tf.unstack(tf.shape(pieces))
        outputs = [tf.TensorArray(tf.int32, size=places, element_shape=[None]) for _ in range(2)]

        def is_inside(place, before, outputs):
            return place < longest

        def step(place, before, outputs):
            sums = tf.unstack(before, num=self._trie.longest)
            by_size = (
                tf.unstack(values[place], num=self._trie.longest) for values in (pieces, scores)
            )
            candidates = zip(*by_size, sums, strict=True)
            best = tf.zeros([batch])
            last = tf.fill([batch], NONE)
            size = tf.zeros([batch], tf.int32)
            is_found = tf.fill([batch], False)
            for number, (piece, score, so_far) in enumerate(candidates):
                characters = self._trie.longest - number
                is_piece = piece >= 0
                if characters == 1:
                    score = tf.where(is_piece, score, self._unknown)
                    is_candidate = tf.fill([batch], True)
                else:
                    is_candidate = is_piece
                total, rest = _exact_sum(score, so_far)
                # What is rounded off decides between sums that round to the same. (An unknown
                # character's sum is rounded first: nothing is left of it.)
                rest = tf.where(is_piece, rest, 0.0)
                is_better = (total > best) | ((total == best) & (rest > 0))
                is_taken = is_candidate & (~is_found | is_better)
                best = tf.where(is_taken, total, best)
                last = tf.where(is_taken, piece, last)
                size = tf.where(is_taken, characters, size)
                is_found |= is_candidate
            last_and_size = zip(outputs, (last, size), strict=True)
            written = [output.write(place, value) for output, value in last_and_size]
            return place + 1, tf.stack([*sums[1:], best]), written

        start = (0, tf.zeros([num_sizes, batch]), outputs)
        *_, written = tf.while_loop(is_inside, step, start)
        return tuple(output.stack() for output in written)


def _exact_sum(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """A sum and what was rounded off it (Knuth 1969, section 4.2.2, theorem B)."""
    total = a + b
    b_in_it = total - a
    return total, (a - (total - b_in_it)) + (b - b_in_it)


def _last_to_first(last: tf.Tensor, sizes: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """What ends at each place `(M, B)` of the best way to the end of each text."""
    places = tf.shape(last)[0]
    output = tf.TensorArray(tf.int32, size=places, element_shape=[None])

    def is_inside(place, end, output):
        return place >= 0

    def step(place, end, output):
        is_end = end == place + 1
        piece = tf.where(last[place] == NONE, UNKNOWN, last[place] + 1)
        output = output.write(place, tf.where(is_end, piece, NOTHING))
        return place - 1, tf.where(is_end, end - sizes[place], end), output

    start = (tf.reduce_max(lengths) - 1, lengths, output)
    *_, output = tf.while_loop(is_inside, step, start)
    return output.stack()
