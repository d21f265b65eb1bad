"""Target pieces among which a search chooses: those that the pieces of a source may become."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.translation.decoding.candidates import CHUNK
from keras_attn.translation.decoding.constraints import NEG_INF
from keras_attn.translation.lexicon import Lexicon
from keras_attn.translation.special_ids import PAD_ID

# Pieces that every shortlist has: the first ones, which are the likeliest.
NUM_FREQUENT = 1536


class Choices(NamedTuple):
    """Pieces of the shortlists of a batch."""

    ids: tf.Tensor  # int32 (N,): N is a multiple of `CHUNK`, and the first ids come first
    # float32 (B, N): 0 for the pieces of the shortlist of each source, -inf for others. So no
    # translation depends on the rest of a batch.
    penalty: tf.Tensor


class Shortlist:
    """Chooses target pieces for each source by a lexicon, so that a step computes fewer logits.

    A shortlist has the first `NUM_FREQUENT` pieces, and for each source piece `x` the `number`
    others `y` with the greatest `P(x | y) P(y)` (Jean et al. 2015, section 3.3).

    Args:
        lexicon: `P(x | y)`.
        log_priors: `log P(y)` of each target piece, float `(V,)`.
        number: Pieces for each source piece, at least 1.
    """

    def __init__(self, lexicon: Lexicon, log_priors: np.ndarray, number: int):
        self._size = len(log_priors)
        targets, sources = np.divmod(lexicon.keys, lexicon.num_sources)
        joint = lexicon.log_probs.astype(np.float32) + log_priors[targets]
        order = np.lexsort((-joint, sources))
        order = order[targets[order] >= NUM_FREQUENT]
        targets, sources = targets[order], sources[order]
        rank = np.arange(len(sources)) - np.searchsorted(sources, sources)
        of_piece = np.zeros((lexicon.num_sources + 1, number), np.int32)  # last: any other piece
        kept = rank < number
        of_piece[sources[kept], rank[kept]] = targets[kept]
        self._of_piece = tf.Variable(of_piece, trainable=False, name="shortlist")
        self.variables = [self._of_piece]

    @classmethod
    def of(cls, lexicon: Lexicon | None, log_priors: np.ndarray, number: int) -> Shortlist | None:
        """Shortlist, or None if an argument is missing, or for a small vocabulary."""
        if lexicon is None or log_priors is None or not number:
            return None
        return cls(lexicon, log_priors, number) if len(log_priors) > 2 * NUM_FREQUENT else None

    def __call__(self, source_ids: tf.Tensor, fixed_size: bool) -> Choices:
        """Choices for sources `(B, S)`.

        With `fixed_size`, `N` depends on the length of the sources alone.
        """
        num_rows, length = tf.unstack(tf.shape(source_ids))
        last, number = tf.unstack(tf.shape(self._of_piece) - [1, 0])
        likely = tf.gather(self._of_piece, tf.minimum(source_ids, last))
        likely = tf.reshape(likely, [num_rows, length * number])
        rows = tf.broadcast_to(tf.range(num_rows)[:, None], tf.shape(likely))
        is_in = tf.repeat(tf.range(self._size)[None] < NUM_FREQUENT, num_rows, axis=0)  # (B, V)
        places, chosen = tf.stack([rows, likely], axis=-1), tf.ones_like(likely, tf.bool)
        is_in = tf.tensor_scatter_nd_update(is_in, places, chosen)
        is_needed = tf.reduce_any(is_in, axis=0)
        ids, others = (tf.where(which)[:, 0] for which in (is_needed, ~is_needed))
        size = NUM_FREQUENT + length * number if fixed_size else tf.size(ids)
        size = -(-tf.minimum(size, self._size) // CHUNK) * CHUNK
        ids = tf.cast(tf.concat([ids, others], axis=0)[:size], tf.int32)
        ids = tf.pad(ids, [[0, size - tf.size(ids)]], constant_values=PAD_ID)
        is_allowed = tf.gather(is_in, ids, axis=1) & (ids != PAD_ID)
        return Choices(ids, tf.where(is_allowed, 0.0, NEG_INF))
