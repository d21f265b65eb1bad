"""The most probable way to cut text into pieces, in the graph (Kudo 2018, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from keras_attn.translation.tokenization.double_array import NONE
from keras_attn.translation.tokenization.trie import Trie

# What a character without a piece costs beyond the piece of the lowest score.
UNKNOWN_PENALTY = 10.0
NOTHING, UNKNOWN = 0, -1


class Unigram:
    """Finds for each text the pieces whose scores have the highest sum (Viterbi 1967).

    The sums are those of the package sentencepiece to the last bit: in float32, from left to right;
    of equal ones the first stays, whose last piece is longer.

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
        # The piece of so many characters that ends at each place, the longest first, as
        # sentencepiece meets them: `(M, B, longest)`.
        places = tf.shape(code_points)[1]
        ending = [
            tf.pad(pieces, [[0, 0], [size, 0]], constant_values=NONE)[:, :places]
            for size, pieces in enumerate(self._trie(code_points, lengths))
        ]
        pieces = tf.transpose(tf.stack(ending[::-1], axis=-1), [1, 0, 2])
        scores = tf.gather(tf.constant(self._scores), tf.maximum(pieces, 0))
        is_character = tf.range(self._trie.longest) == self._trie.longest - 1
        otherwise = tf.where(is_character, self._unknown, float("-inf"))
        scores = tf.where(pieces == NONE, otherwise, scores)
        chosen = _best(scores, tf.reduce_max(lengths))
        last = tf.gather(pieces, chosen, batch_dims=2)
        said = tf.where(last == NONE, UNKNOWN, last + 1)
        return tf.transpose(_on_the_way(said, self._trie.longest - chosen, lengths))


def _best(scores: tf.Tensor, longest: tf.Tensor) -> tf.Tensor:
    """Index of the last piece of the best segmentation that ends at each position.

    Args:
        scores: Of each of them, `(M, B, K)`, the shortest last, -inf for none.
        longest: Places of the longest text.

    Returns:
        Int32 `(M, B)`; of equally good ones the first.
    """
    places, batch, num_sizes = tf.unstack(tf.shape(scores))
    chosen = tf.TensorArray(tf.int32, size=places, element_shape=[None])

    def is_inside(place, before, chosen):
        return place < longest

    def step(place, before, chosen):
        totals = scores[place] + before
        sums = tf.concat([before[:, 1:], tf.reduce_max(totals, axis=1, keepdims=True)], axis=1)
        choice = tf.argmax(totals, axis=1, output_type=tf.int32)
        return place + 1, tf.ensure_shape(sums, before.shape), chosen.write(place, choice)

    # The sums up to the places before, as many as the longest piece has characters.
    start = (0, tf.zeros([batch, num_sizes]), chosen)
    *_, chosen = tf.while_loop(is_inside, step, start)
    return chosen.stack()


def _on_the_way(pieces: tf.Tensor, sizes: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """The pieces `(M, B)` on the best way to the end of each text, `NOTHING` between them.

    Args:
        pieces: The last piece of the best way to each place.
        sizes: Its characters.
        lengths: Places of each text `(B,)`.
    """
    output = tf.TensorArray(tf.int32, size=tf.shape(pieces)[0], element_shape=[None])

    def is_inside(place, end, output):
        return place >= 0

    def step(place, end, output):
        is_end = end == place + 1
        output = output.write(place, tf.where(is_end, pieces[place], NOTHING))
        return place - 1, tf.where(is_end, end - sizes[place], end), output

    start = (tf.reduce_max(lengths) - 1, lengths, output)
    *_, output = tf.while_loop(is_inside, step, start)
    return output.stack()
