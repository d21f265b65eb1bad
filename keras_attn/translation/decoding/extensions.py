"""Best extensions of the hypotheses of a beam by one token."""

from __future__ import annotations

import tensorflow as tf

from keras_attn.translation.decoding.beams import NEVER, Beam, Rows
from keras_attn.translation.decoding.limits import FORBIDDEN_IDS, forbid, repetitions
from keras_attn.translation.decoding.vocabulary_blocks import BLOCK, in_blocks, log_sum_exp
from keras_attn.translation.special_ids import EOS_ID, PAD_ID


class Extensions:
    """The best extensions of the hypotheses of each row by one token.

    Args:
        beam_size: Number of hypotheses `K` of each row.
        no_repeat_ngram: See `BeamSearch`.
        slot_ids: See `BeamSearch`.
        forced_eos: See `BeamSearch`.
        forbidden_ids: See `BeamSearch`.
        can_omit_scores: Whether the extensions of a row can be compared by their logits, because
            they extend one hypothesis and have no length penalty. Defaults to False.

    Call arguments:
        rows: Rows that are searched.
        beam: Unfinished hypotheses of the rows.
        logits: Logits of the next tokens, `(B, K, V)`.
        number: Number of extensions of each row.

    Returns:
        Log probabilities, parents and tokens of the best extended hypotheses, `(B, number)` each,
        best first.
    """

    def __init__(
        self,
        beam_size: int,
        no_repeat_ngram: int = 0,
        slot_ids: tuple[int, ...] = (),
        forced_eos: bool = False,
        forbidden_ids: tuple[int, ...] = FORBIDDEN_IDS,
        can_omit_scores: bool = False,
    ):
        self._beam_size = beam_size
        self._no_repeat_ngram = no_repeat_ngram
        self._slot_ids = slot_ids
        self._forced_eos = forced_eos
        self._forbidden_ids = forbidden_ids
        self._can_omit_scores = can_omit_scores

    def __call__(
        self, rows: Rows, beam: Beam, logits: tf.Tensor, number: int
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        # The vocabulary is divided into blocks. The `number` best extensions are in the `number`
        # blocks with the highest maxima, so only these blocks are sorted. The first block of each
        # hypothesis is always included, because it holds the special ids and their rules.
        beam_size = self._beam_size
        logits = in_blocks(tf.cast(logits, tf.float32))  # (B, K, N, BLOCK)
        batch_size, num_blocks = tf.shape(logits)[0], logits.shape[2]
        highest = tf.reduce_max(logits, axis=-1)  # (B, K, N)
        log_probs = beam.log_probs - self._normalizer(rows, logits, highest)  # (B, K)
        if self._no_repeat_ngram:
            barred = repetitions(beam.tokens, beam.step, self._no_repeat_ngram)

            def without_barred() -> tuple[tf.Tensor, tf.Tensor]:
                allowed = forbid(logits, barred)
                return allowed, tf.reduce_max(allowed, axis=-1)

            # Most steps repeat nothing; they do not copy the logits.
            logits, highest = tf.cond(
                tf.reduce_any(barred != PAD_ID), without_barred, lambda: (logits, highest)
            )

        others = tf.where(
            (rows.limits <= beam.step)[:, None, None],
            NEVER,
            highest[:, :, 1:] + log_probs[..., None],
        )
        others_each = num_blocks - 1
        num_others = beam_size * others_each
        _, best = tf.math.top_k(
            tf.reshape(others, tf.stack([batch_size, num_others])), min(number, num_others)
        )
        # The first blocks of all hypotheses, then the best of the other blocks.
        first = tf.zeros(tf.stack([batch_size, beam_size]), tf.int32)
        # `max(..., 1)` avoids a division by 0 if there is one block only; `best` is empty then.
        block = tf.concat([first, best % max(others_each, 1) + 1], axis=1)
        parent = tf.concat([first + tf.range(beam_size), best // max(others_each, 1)], axis=1)

        row = tf.range(batch_size)[:, None] * beam_size + parent
        totals = tf.gather(tf.reshape(logits, [-1, BLOCK]), row * num_blocks + block)
        totals = totals + tf.gather(log_probs, parent, batch_dims=1)[..., None]
        totals = _keep_rules(rows, beam, totals, beam_size, self._slot_ids, self._forbidden_ids)
        if self._forced_eos:
            must_end = (rows.limits <= beam.step)[:, None, None]
            is_end = must_end & (tf.range(BLOCK) == EOS_ID)
            first_blocks = tf.where(is_end, beam.log_probs[..., None], totals[:, :beam_size])
            totals = tf.concat([first_blocks, totals[:, beam_size:]], axis=1)
        width = tf.shape(block)[1] * BLOCK
        totals, best = tf.math.top_k(tf.reshape(totals, tf.stack([batch_size, width])), number)
        parent, block = (tf.gather(x, best // BLOCK, batch_dims=1) for x in (parent, block))
        return totals, parent, block * BLOCK + best % BLOCK

    def _normalizer(self, rows: Rows, logits: tf.Tensor, highest: tf.Tensor) -> tf.Tensor:
        """Difference of logits and log probabilities, `(B, K)`.

        Where no score is needed, the maximum of the logits replaces it, which keeps sums small.
        """
        if not self._can_omit_scores:
            return log_sum_exp(logits, highest)
        return tf.cond(
            rows.scored,
            lambda: log_sum_exp(logits, highest),
            lambda: tf.reduce_max(highest, axis=-1),
        )


def _keep_rules(
    rows: Rows,
    beam: Beam,
    totals: tf.Tensor,
    beam_size: int,
    slot_ids: tuple[int, ...],
    forbidden_ids: tuple[int, ...],
) -> tf.Tensor:
    """Set forbidden tokens, slots, and EOS outside the length limits, to -inf.

    Args:
        rows: Rows with their length limits.
        beam: Beam with the current step.
        totals: Log probabilities `(B, blocks, BLOCK)`; the first blocks of all hypotheses are at
            the beginning.
        beam_size: Number of first blocks.
        slot_ids: See `BeamSearch`.
        forbidden_ids: See `Extensions`.
    """
    must_end = (rows.limits <= beam.step)[:, None, None]
    can_end = (rows.minimums <= beam.step)[:, None, None]
    token = tf.range(BLOCK)
    is_end = token == EOS_ID
    is_forbidden = tf.reduce_any(token[:, None] == tf.constant(forbidden_ids), axis=-1)
    is_forbidden = is_forbidden | (is_end & ~can_end) | (~is_end & must_end)  # (B, 1, BLOCK)
    if slot_ids:
        around = [slot_ids[0], BLOCK - slot_ids[-1] - 1]
        is_forbidden = is_forbidden | tf.pad(~beam.slots_left, [[0, 0], [0, 0], around])
    first = tf.where(is_forbidden, NEVER, totals[:, :beam_size])
    others = tf.where(must_end, NEVER, totals[:, beam_size:])
    return tf.concat([first, others], axis=1)
