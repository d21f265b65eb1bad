"""Target pieces among which a search chooses: those that the pieces of a source may become."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.decoding.candidates import CHUNK
from keras_attn.translation.decoding.constraints import NEG_INF
from keras_attn.translation.decoding.teacher_forcing import decoder_inputs
from keras_attn.translation.lexicon import Lexicon
from keras_attn.translation.special_ids import PAD_ID

# Pieces that every shortlist has: the first ones, which are the likeliest.
NUM_FREQUENT = 1536
_RIDGE = 10.0  # of the least squares, for corpora with few validation sentences


class Choices(NamedTuple):
    """Pieces of the shortlists of a batch."""

    ids: tf.Tensor  # int32 (N,): N is a multiple of `CHUNK`, and the first ids come first
    # float32 (B, N): 0 for the pieces of the shortlist of each source, -inf for others. So no
    # translation depends on the rest of a batch. Padding, which no translation has, has 0 in the
    # first place: it stands for all pieces outside.
    penalty: tf.Tensor


class Shortlist:
    """Chooses target pieces for each source by a lexicon, so that a step computes fewer logits.

    A shortlist has the first `NUM_FREQUENT` pieces, and for each source piece `x` the `number`
    others `y` with the greatest `P(x | y) P(y)` (Jean et al. 2015, section 3.3).

    Among these alone, probabilities would be too large, the more so the less sure the model is. So
    one logit stands for the pieces outside: `log sum_y exp(logit_y)`, estimated as an affine
    function `outside` of the state. It is -inf before `fit`.

    Args:
        lexicon: `P(x | y)`.
        log_priors: `log P(y)` of each target piece, float `(V,)`.
        number: Pieces for each source piece, at least 1.
        width: `D`, of the states that logits are made of.
    """

    def __init__(self, lexicon: Lexicon, log_priors: np.ndarray, number: int, width: int):
        self._size = len(log_priors)
        targets, sources = np.divmod(lexicon.keys, lexicon.num_sources)
        joint = lexicon.log_probs.astype(np.float32) + log_priors[targets]
        order = np.lexsort((-joint, sources))
        order = order[(targets[order] >= NUM_FREQUENT) & (sources[order] != PAD_ID)]
        targets, sources = targets[order], sources[order]
        rank = np.arange(len(sources)) - np.searchsorted(sources, sources)
        of_piece = np.zeros((lexicon.num_sources + 1, number), np.int32)  # last: any other piece
        kept = rank < number
        of_piece[sources[kept], rank[kept]] = targets[kept]
        self._of_piece = tf.Variable(of_piece, trainable=False, name="shortlist")
        # Kernel and bias of the logit of the pieces outside, (D + 1,).
        outside = np.append(np.zeros(width), NEG_INF).astype(np.float32)
        self.outside = tf.Variable(outside, trainable=False, name="outside_shortlist")
        self.variables = [self._of_piece, self.outside]

    @classmethod
    def of(
        cls, lexicon: Lexicon | None, log_priors: np.ndarray | None, number: int, width: int
    ) -> Shortlist | None:
        """Shortlist, or None if an argument is missing, or for a small vocabulary."""
        if lexicon is None or log_priors is None or not number:
            return None
        is_large = len(log_priors) > 2 * NUM_FREQUENT
        return cls(lexicon, log_priors, number, width) if is_large else None

    def __call__(self, source_ids: tf.Tensor, fixed_size: bool) -> Choices:
        """Choices for sources `(B, S)`.

        With `fixed_size`, `N` depends on the length of the sources alone.
        """
        is_in = self._holds(source_ids)
        is_needed = tf.reduce_any(is_in, axis=0)
        ids, others = (tf.where(which)[:, 0] for which in (is_needed, ~is_needed))
        most = NUM_FREQUENT + tf.shape(source_ids)[1] * tf.shape(self._of_piece)[1]
        size = most if fixed_size else tf.size(ids)
        size = -(-tf.minimum(size, self._size) // CHUNK) * CHUNK
        ids = tf.cast(tf.concat([ids, others], axis=0)[:size], tf.int32)
        ids = tf.pad(ids, [[0, size - tf.size(ids)]], constant_values=PAD_ID)
        is_filling = (ids == PAD_ID) & (tf.range(size) > 0)
        is_allowed = tf.gather(is_in, ids, axis=1) & ~is_filling
        return Choices(ids, tf.where(is_allowed, 0.0, NEG_INF))

    def fit(self, model: Transformer, pairs: Iterable[tuple[tf.Tensor, tf.Tensor]]) -> None:
        """Fit `outside` to batches of sources `(B, S)` and translations `(B, T)`, with EOS.

        By least squares, of the states under the given translations.
        """
        kernel, bias = (tf.cast(x, tf.float32) for x in model.decoder.output_projection())
        ridge = np.append(np.full(len(kernel), _RIDGE), 0.0)
        products, sums = np.diag(ridge), np.zeros(len(ridge))
        for source_ids, target_ids in pairs:
            memory = model.encoder(source_ids, training=False)
            mask = model.encoder.compute_mask(source_ids)
            inputs = decoder_inputs(target_ids)
            states = model.decoder.states(inputs, memory, memory_mask=mask, training=False)
            row, place = tf.unstack(tf.where(target_ids != PAD_ID), axis=1)
            states = tf.cast(tf.gather_nd(states, tf.stack([row, place], axis=1)), tf.float32)
            logits = tf.matmul(states, kernel) + bias
            outside = tf.where(tf.gather(self._holds(source_ids), row), NEG_INF, logits)
            columns = np.insert(states.numpy(), len(kernel), 1.0, axis=1).astype(np.float64)
            products += columns.T @ columns
            sums += columns.T @ tf.reduce_logsumexp(outside, axis=1).numpy()
        self.outside.assign(np.linalg.solve(products, sums))

    def _holds(self, source_ids: tf.Tensor) -> tf.Tensor:
        """Whether the shortlist of each source has each piece, boolean `(B, V)`."""
        num_rows, length = tf.unstack(tf.shape(source_ids))
        last, number = tf.unstack(tf.shape(self._of_piece) - [1, 0])
        likely = tf.gather(self._of_piece, tf.minimum(source_ids, last))
        likely = tf.reshape(likely, [num_rows, length * number])
        rows = tf.broadcast_to(tf.range(num_rows)[:, None], tf.shape(likely))
        is_in = tf.repeat(tf.range(self._size)[None] < NUM_FREQUENT, num_rows, axis=0)
        places, chosen = tf.stack([rows, likely], axis=-1), tf.ones_like(likely, tf.bool)
        return tf.tensor_scatter_nd_update(is_in, places, chosen)
