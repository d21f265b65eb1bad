"""Order of hypotheses by their probability and by how well they cover their source."""

import numpy as np
import tensorflow as tf

from keras_attn.translation.decoding.beams import Hypotheses
from keras_attn.translation.decoding.parallel import in_groups
from keras_attn.translation.lexicon import FLOOR, Lexicon
from keras_attn.translation.special_ids import EOS_ID, PAD_ID


class Coverage:
    """Adds to scores how well hypotheses cover their sources, by a lexicon.

    The coverage of a source `x` by a hypothesis `y` is the mean over the pieces `x_s` of
    `max_t log P(x_s | y_t)`: a channel model from target to source (Yee, Dauphin and Auli 2019,
    section 2) in which a piece comes from the piece that explains it best. A model that has seen
    few sentences leaves parts out, and is as sure of such a translation as of a whole one.
    """

    def __init__(self, lexicon: Lexicon, weight: float):
        self.weight = weight
        self._num_sources = lexicon.num_sources
        self._keys = tf.Variable(lexicon.keys, trainable=False, name="lexicon_keys")
        self._log_probs = tf.Variable(lexicon.log_probs, trainable=False, name="lexicon_log_probs")
        self.variables = [self._keys, self._log_probs]

    def ranked(self, source_ids: tf.Tensor, found: Hypotheses) -> Hypotheses:
        """Hypotheses in the order of their scores and `weight` times their coverage."""
        scores = found.scores + self.weight * self(source_ids, found.tokens)
        scores, order = tf.math.top_k(scores, tf.shape(scores)[1])
        return Hypotheses(tf.gather(found.tokens, order, batch_dims=1), scores)

    def __call__(self, source_ids: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Coverage of sources `(B, S)` by hypotheses `(B, K, L)`, float32 `(B, K)`."""
        # Padding, which stands for no piece, may explain a piece too.
        tokens = tf.pad(tokens, [[0, 0], [0, 0], [0, 1]], constant_values=PAD_ID)
        best = self._largest(source_ids, tokens, axis=2)  # (B, K, S)
        return _mean(best, self._is_known(source_ids)[:, None])

    def explained(self, source_ids: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Explanation of hypotheses by sources, `mean_t max_s log P(x_s | y_t)`; as a coverage."""
        return _mean(self._largest(source_ids, tokens, axis=3), tokens != PAD_ID)

    def log_probs(self, source_ids: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """`log P(x_s | y_t)` of sources `(B, S)` and hypotheses `(B, K, L)`: `(B, K, L, S)`."""
        # No target piece explains padding.
        source_ids = tf.where(self._is_known(source_ids), source_ids, PAD_ID)
        # The hypotheses of a source share most pieces: each is looked up once.
        size = tf.reduce_max(tokens) + 1
        pieces = tf.range(tf.shape(tokens)[0])[:, None, None] * size + tokens
        pieces, place = tf.unique(tf.reshape(pieces, [-1]))
        keys = (pieces % size)[:, None] * self._num_sources + tf.gather(source_ids, pieces // size)
        found = tf.gather(self._of_keys(keys), place)
        return tf.reshape(found, tf.concat([tf.shape(tokens), tf.shape(source_ids)[1:]], axis=0))

    def _of_keys(self, keys: tf.Tensor) -> tf.Tensor:
        """`log P(x | y)` of keys of the lexicon `(U, S)`."""
        # Read first: TensorFlow copies a variable whenever it is read after a gather from itself.
        known, log_probs = tf.identity(self._keys), tf.identity(self._log_probs)
        places = tf.searchsorted(known, tf.reshape(keys, [-1]))
        places = tf.reshape(tf.minimum(places, tf.size(known) - 1), tf.shape(keys))
        found = tf.cast(tf.gather(log_probs, places), tf.float32)
        return tf.where(tf.gather(known, places) == keys, found, float(np.log(FLOOR)))

    def _is_known(self, source_ids: tf.Tensor) -> tf.Tensor:
        is_piece = (source_ids != PAD_ID) & (source_ids != EOS_ID)
        return is_piece & (source_ids < self._num_sources)

    def _largest(self, source_ids: tf.Tensor, tokens: tf.Tensor, axis: int) -> tf.Tensor:
        """Largest log probabilities along an axis of `(B, K, L, S)`."""
        _, number, length = tf.unstack(tf.shape(tokens))
        return in_groups(
            lambda ids, tokens: tf.reduce_max(self.log_probs(ids, tokens), axis),
            (source_ids, tokens),
            number * length,
            tf.TensorSpec([None, None], tf.float32),
        )


def _mean(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Mean over the last axis of what a mask keeps; 0 if it keeps nothing."""
    weights = tf.cast(mask, tf.float32)
    return tf.math.divide_no_nan(tf.reduce_sum(x * weights, -1), tf.reduce_sum(weights, -1))
