"""Most probable segmentation of text by a unigram model, in the graph (Kudo 2018, section 3.2)."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from keras_attn.translation.tokenization.trie import NONE, Trie

# The score of a character without a piece is the lowest score of a piece minus this penalty.
UNKNOWN_PENALTY = 10.0
# Results for a position inside a piece, and for the end of a character without a piece.
NOTHING, UNKNOWN = 0, -1


class Unigram:
    """Unigram segmentation: finds the pieces with the highest sum of scores (Viterbi 1967).

    Scores are log probabilities. Sums are float32 and added from left to right, so they equal the
    sums of the package sentencepiece bit for bit. Among equal sums, the segmentation with the
    longer last piece wins.
    """

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]):
        self._trie = Trie(pieces)
        self.variables = self._trie.variables
        self._scores = np.array(scores, np.float32)
        self._unknown = np.float32(np.min(self._scores) - np.float32(UNKNOWN_PENALTY))

    def __call__(self, code_points: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        """Segment texts of code points `(B, M)`, of which `lengths` `(B,)` are valid.

        Returns the piece that ends at each position, int32 `(B, M)`: 1 + its index, `UNKNOWN` for
        a character without a piece, `NOTHING` if no piece ends there.
        """
        # `(M, B, longest)`: the pieces that end at each position, by length. The longest is first,
        # which is the order in which sentencepiece compares them.
        pieces = tf.transpose(self._trie(code_points, lengths)[::-1], [2, 1, 0])
        scores = tf.gather(tf.constant(self._scores), tf.maximum(pieces, 0))
        is_character = tf.range(self._trie.longest) == self._trie.longest - 1
        otherwise = tf.where(is_character, self._unknown, float("-inf"))
        scores = tf.where(pieces == NONE, otherwise, scores)
        chosen = _best(scores, tf.reduce_max(lengths))
        last = tf.gather(pieces, chosen, batch_dims=2)
        last = tf.where(last == NONE, UNKNOWN, last + 1)
        return tf.transpose(_trace_back(last, self._trie.longest - chosen, lengths))


def _best(scores: tf.Tensor, longest: tf.Tensor) -> tf.Tensor:
    """Index of the last piece of the best segmentation that ends at each position, `(M, B)`.

    `scores (M, B, K)` are those of the `K` candidate pieces that end at each position, the shortest
    last, -inf for a missing piece. Among equal sums, the first index is chosen.
    """
    places, batch, num_sizes = tf.unstack(tf.shape(scores))
    chosen = tf.TensorArray(tf.int32, size=places, element_shape=[None])

    def step(place, before, chosen):
        totals = scores[place] + before
        sums = tf.concat([before[:, 1:], tf.reduce_max(totals, axis=1, keepdims=True)], axis=1)
        choice = tf.argmax(totals, axis=1, output_type=tf.int32)
        return place + 1, tf.ensure_shape(sums, before.shape), chosen.write(place, choice)

    # At least one step: an array to which nothing is written has no size.
    # Best sums up to each of the previous `num_sizes` positions.
    start = (0, tf.zeros([batch, num_sizes]), chosen)
    *_, chosen = tf.while_loop(lambda place, *_: place < tf.maximum(longest, 1), step, start)
    return chosen.stack()


def _trace_back(pieces: tf.Tensor, sizes: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Pieces of the best segmentation of each text, `(M, B)`, with `NOTHING` inside pieces.

    `pieces (M, B)` are the last pieces of the best segmentations up to each position, of `sizes`
    characters; `lengths (B,)` are those of the texts.
    """
    output = tf.TensorArray(tf.int32, size=tf.shape(pieces)[0], element_shape=[None])

    def step(place, end, output):
        is_end = end == place + 1
        output = output.write(place, tf.where(is_end, pieces[place], NOTHING))
        return place - 1, tf.where(is_end, end - sizes[place], end), output

    start = (tf.maximum(tf.reduce_max(lengths), 1) - 1, lengths, output)
    *_, output = tf.while_loop(lambda place, *_: place >= 0, step, start)
    return output.stack()
