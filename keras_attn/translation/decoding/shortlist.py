"""Target pieces among which a search chooses: those that the pieces of a source may become."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.layers.decoder import Decoder
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

    # int32 (N,): N is a multiple of `CHUNK`, and the first `NUM_FREQUENT` ids come first.
    ids: tf.Tensor
    kernel: tf.Tensor  # of their logits, (D, N)
    # Float32 (B, N): -inf for pieces outside of the shortlist of a source, so that no translation
    # depends on the rest of a batch. Padding, which no translation has, comes first: it stands for
    # all pieces outside.
    bias: tf.Tensor


class Shortlist:
    """Chooses target pieces for each source by a lexicon, so that a step computes fewer logits.

    A shortlist has the first `NUM_FREQUENT` pieces, and for each source piece `x` the `number`
    others `y` with the greatest `P(x | y) P(y)` (Jean et al. 2015, section 3.3).

    Among these alone, probabilities would be too large, the more so the less sure the model is. So
    one logit stands for the pieces outside: `log sum_y exp(logit_y)`, estimated as an affine
    function of the state. It is -inf before `fit`.

    Args:
        lexicon: `P(x | y)`.
        log_priors: `log P(y)` of each target piece, float `(V,)`.
        number: Pieces for each source piece, at least 1.
        kernel: Of the logits, `(D, V)`.
        bias: Of the logits, `(V,)`.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        log_priors: np.ndarray,
        number: int,
        kernel: tf.Tensor,
        bias: tf.Tensor,
    ):
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
        # The kernel in two parts, the second by pieces: rows are gathered in a tenth of the time of
        # columns. The logit of the pieces outside has the place of padding, the first.
        first, others = tf.split(kernel, [NUM_FREQUENT, -1], axis=1)
        first *= tf.cast(tf.range(NUM_FREQUENT) > 0, kernel.dtype)
        bias = tf.tensor_scatter_nd_update(tf.cast(bias, tf.float32), [[0]], [NEG_INF])
        self._first = tf.Variable(first, trainable=False, name="shortlist_first")
        self._others = tf.Variable(tf.transpose(others), trainable=False, name="shortlist_others")
        self._bias = tf.Variable(bias, trainable=False, name="shortlist_bias")
        self.variables = [self._of_piece, self._first, self._others, self._bias]
        self.specs = Choices(
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([kernel.shape[0], None], kernel.dtype),
            tf.TensorSpec([None, None], tf.float32),
        )

    @classmethod
    def of(
        cls, lexicon: Lexicon | None, log_priors: np.ndarray | None, number: int, decoder: Decoder
    ) -> Shortlist | None:
        """Shortlist, or None if an argument is missing, or for a small vocabulary."""
        if lexicon is None or log_priors is None or not number:
            return None
        if len(log_priors) <= 2 * NUM_FREQUENT:
            return None
        return cls(lexicon, log_priors, number, *decoder.output_projection())

    def __call__(self, source_ids: tf.Tensor, fixed_size: bool) -> Choices:
        """Choices for sources `(B, S)`.

        With `fixed_size`, `N` depends on `B` and `S` alone.
        """
        likely = self._likely(source_ids)
        flat = tf.reshape(likely, [-1])
        # Padding, for which `likely` has no piece, is found first.
        found, place = tf.unique(tf.concat([[PAD_ID], flat], axis=0))
        ids = tf.concat([tf.range(NUM_FREQUENT), found[1:]], axis=0)
        size = NUM_FREQUENT + tf.size(flat) if fixed_size else tf.size(ids)
        size = -(-tf.minimum(size, self._size) // CHUNK) * CHUNK
        ids = tf.pad(ids, [[0, size - tf.size(ids)]], constant_values=PAD_ID)
        place = tf.where(place > 0, NUM_FREQUENT - 1 + place, 0)[1:]
        row = tf.repeat(tf.range(tf.shape(likely)[0]), tf.shape(likely)[1])
        is_in = tf.repeat(tf.range(size)[None] < NUM_FREQUENT, tf.shape(likely)[0], axis=0)
        is_in = tf.tensor_scatter_nd_update(
            is_in, tf.stack([row, place], axis=1), tf.ones_like(place, tf.bool)
        )
        # Read first: TensorFlow copies a variable whenever it is read after a gather from itself.
        others = tf.maximum(ids[NUM_FREQUENT:] - NUM_FREQUENT, 0)
        others = tf.transpose(tf.gather(tf.identity(self._others), others))
        kernel = tf.concat([self._first, others], axis=1)
        bias = tf.gather(tf.identity(self._bias), ids)
        return Choices(ids, kernel, tf.where(is_in, bias, NEG_INF))

    def fit(self, model: Transformer, pairs: Iterable[tuple[tf.Tensor, tf.Tensor]]) -> None:
        """Fit the logit of the pieces outside to batches of sources and translations, with EOS.

        By least squares, of the states under the given translations `(B, T)`.
        """
        kernel = tf.concat([self._first, tf.transpose(self._others)], axis=1)
        kernel, width = tf.cast(kernel, tf.float32), kernel.shape[0]
        ridge = np.append(np.full(width, _RIDGE), 0.0)
        products, sums = np.diag(ridge), np.zeros(len(ridge))
        for source_ids, target_ids in pairs:
            memory = model.encoder(source_ids, training=False)
            mask = model.encoder.compute_mask(source_ids)
            inputs = decoder_inputs(target_ids)
            states = model.decoder.states(inputs, memory, memory_mask=mask, training=False)
            row, place = tf.unstack(tf.where(target_ids != PAD_ID), axis=1)
            states = tf.cast(tf.gather_nd(states, tf.stack([row, place], axis=1)), tf.float32)
            likely = self._likely(source_ids).numpy()
            is_outside = np.tile(np.arange(self._size) >= NUM_FREQUENT, [len(likely), 1])
            np.put_along_axis(is_outside, likely, False, axis=1)
            logits = tf.matmul(states, kernel) + self._bias
            outside = tf.where(is_outside[row], logits, NEG_INF)
            columns = np.insert(states.numpy(), width, 1.0, axis=1).astype(np.float64)
            products += columns.T @ columns
            sums += columns.T @ tf.reduce_logsumexp(outside, axis=1).numpy()
        *weights, bias = np.linalg.solve(products, sums)
        self._first[:, 0].assign(tf.cast(weights, self._first.dtype))
        self._bias[0].assign(bias)

    def _likely(self, source_ids: tf.Tensor) -> tf.Tensor:
        """Pieces of each source by the lexicon, `(B, any)`; padding where there are fewer."""
        num_rows, length = tf.unstack(tf.shape(source_ids))
        table = tf.identity(self._of_piece)
        last, number = table.shape[0] - 1, table.shape[1]
        likely = tf.gather(table, tf.minimum(source_ids, last))
        return tf.reshape(likely, tf.stack([num_rows, length * number]))
