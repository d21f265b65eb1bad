"""Beam search in the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from keras_attn.translation.decoding.beams import NEVER, Beam, Hypotheses, Rows
from keras_attn.translation.decoding.extensions import Extensions
from keras_attn.translation.decoding.limits import FORBIDDEN_IDS
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID

# Number of positions by which the buffers grow.
ROOM = 16
# Finished rows are removed from the search when at least 1/LEAVING of the rows are finished.
LEAVING = 8

# (last tokens (B, K) int32, position () int32, ancestors (B, K, C) int32, cache, memory) ->
# (logits (B, K, V), cache)
#
# `ancestors[b, k, c]` is the index of the hypothesis that generated position `c` of hypothesis `k`,
# or -1 after the current position. Each tensor of the cache is `(B, any, C, ...)` and is not
# reordered when the ranks of hypotheses change. Each tensor of the memory is `(B, ...)`.
Step = Callable[[tf.Tensor, tf.Tensor, tf.Tensor, Any, Any], tuple[tf.Tensor, Any]]


def length_penalty(num_tokens: tf.Tensor, alpha: float, offset: float = 5.0) -> tf.Tensor:
    """Divisor of the log probability of `num_tokens` tokens, EOS included.

    `((c + |Y|) / (c + 1))^alpha`, with the offset `c = 5` of Wu et al. 2016, section 7, equation
    14. With `c = 0`, it is `|Y|^alpha`.
    """
    return ((offset + tf.cast(num_tokens, tf.float32)) / (offset + 1.0)) ** alpha


class BeamSearch:
    """Beam search with length penalty, early stopping and optional n-gram blocking.

    Each step extends every hypothesis by every token and keeps the best extensions. A hypothesis is
    finished when its extension by EOS is among the `beam_size` best. A row is finished when no
    unfinished hypothesis can still beat the `num_best` finished ones, even if all its remaining
    tokens had probability 1; so early stopping does not change the result, unless another
    `early_stopping` is given. Forbidden tokens are skipped without renormalising the probabilities
    of the other tokens.

    Args:
        step: Function that computes the logits of the next tokens.
        beam_size: Number of hypotheses `K` of each row, at least 1.
        alpha: Exponent of the length penalty; 0 turns it off. Defaults to 1.
        no_repeat_ngram: Size of n-grams that a translation must not repeat; 0 turns the rule off.
            Defaults to 0.
        slot_ids: Consecutive ids below `vocabulary_blocks.BLOCK` that a translation may have once,
            and only if its source has them. Defaults to none.
        offset: Offset of the length penalty. Defaults to 5.
        early_stopping: `"exact"`, as described above; `"heuristic"`: a row is finished when its
            `beam_size` finished hypotheses have better scores than the best unfinished one, divided
            by the length penalty of its length so far; `"full"`: when it has `beam_size` finished
            hypotheses. Defaults to `"exact"`.
        forced_eos: Whether EOS has probability 1 after the last token that the maximum length
            allows. Defaults to False.
        forbidden_ids: Ids below `BLOCK` that no translation has. Defaults to padding, the unknown
            token and BOS.
    """

    def __init__(
        self,
        step: Step,
        beam_size: int,
        alpha: float = 1.0,
        no_repeat_ngram: int = 0,
        slot_ids: tuple[int, ...] = (),
        offset: float = 5.0,
        early_stopping: str = "exact",
        forced_eos: bool = False,
        forbidden_ids: tuple[int, ...] = FORBIDDEN_IDS,
    ):
        self._step = step
        self._beam_size = beam_size
        self._alpha = alpha
        self._slot_ids = slot_ids
        self._offset = offset
        self._early_stopping = early_stopping
        self._best_extensions = Extensions(
            beam_size,
            no_repeat_ngram,
            slot_ids,
            forced_eos,
            forbidden_ids,
            # A row ends with the first end that is found.
            can_omit_scores=beam_size == 1 and not alpha,
        )

    def __call__(
        self,
        cache: Any,
        memory: Any,
        limits: tf.Tensor,
        minimums: tf.Tensor,
        has_slot: tf.Tensor | None = None,
        num_best: int | tf.Tensor = 1,
        scored: bool | tf.Tensor = True,
    ) -> Hypotheses:
        """Search with dynamic shapes: finished rows are removed, and buffers grow when needed.

        Args:
            cache: Cache that `step` updates, with 0 positions.
            memory: Inputs of `step` that depend on the row only.
            limits: Maximum length of each translation, EOS not counted, at least 1, int32 `(B,)`.
            minimums: Minimum length of each translation, at most `limits`, int32 `(B,)`.
            has_slot: Whether the source of each row has each of `slot_ids`, boolean
                `(B, len(slot_ids))`. Defaults to False everywhere.
            num_best: Number of hypotheses to find, from 1 to `K`. Defaults to 1.
            scored: Whether the scores are needed. Without them, greedy search is faster: it
                computes no log probabilities, and the scores have no meaning. Defaults to True.

        Returns:
            Hypotheses of each row, of which the first `num_best` are its best.
        """
        batch_size = tf.shape(limits)[0]
        rows = _rows(limits, minimums, memory, num_best, scored)
        found = self._no_hypotheses(batch_size)

        def unfinished(rows: Rows, beam: Beam, found: Hypotheses) -> tf.Tensor:
            return tf.size(rows.index) > 0

        def search_on(rows: Rows, beam: Beam, found: Hypotheses):
            is_full = beam.step == tf.shape(beam.tokens)[-1]
            room = tf.where(is_full, ROOM, 0)
            beam = _make_room(beam, room)
            tokens = tf.pad(found.tokens, [[0, 0], [0, 0], [0, room]])
            leaving = tf.maximum(tf.size(rows.index) // LEAVING, 1)
            beam = self._extend_until(rows, beam, leaving)
            done = self._done(rows, beam)
            leave, stay = (tf.where(which)[:, 0] for which in (done, ~done))
            best = _ended(beam)
            place = tf.gather(rows.index, leave)[:, None]
            found = Hypotheses(
                *(
                    tf.tensor_scatter_nd_update(all_rows, place, tf.gather(searched_rows, leave))
                    for all_rows, searched_rows in zip((tokens, found.scores), best, strict=True)
                )
            )
            rows, beam = tf.nest.map_structure(
                lambda x: tf.gather(x, stay) if x.shape.rank else x, (rows, beam)
            )
            return rows, beam, found

        state = (rows, self._start(batch_size, cache, has_slot), found)
        *_, found = tf.while_loop(unfinished, search_on, state, shape_invariants=_any_shape(state))
        return found

    def at_once(
        self,
        cache: Any,
        memory: Any,
        limits: tf.Tensor,
        minimums: tf.Tensor,
        longest: tf.Tensor,
        has_slot: tf.Tensor | None = None,
        num_best: int | tf.Tensor = 1,
        scored: bool | tf.Tensor = True,
    ) -> Hypotheses:
        """Search with static shapes, for XLA; finds the same hypotheses as `__call__`.

        Args:
            cache: See `__call__`.
            memory: See `__call__`.
            limits: See `__call__`.
            minimums: See `__call__`.
            longest: Upper bound of `limits`, int32 `()`.
            has_slot: See `__call__`.
            num_best: See `__call__`.
            scored: See `__call__`.

        Returns:
            Hypotheses of each row, of which the first `num_best` are its best.
        """
        batch_size = tf.shape(limits)[0]
        rows = _rows(limits, minimums, memory, num_best, scored)
        # One more position than the longest translation, for EOS.
        beam = _make_room(self._start(batch_size, cache, has_slot), longest + 1)
        return _ended(self._extend_until(rows, beam, batch_size))

    def _no_hypotheses(self, batch_size: tf.Tensor) -> Hypotheses:
        shape = tf.stack([batch_size, self._beam_size])
        return Hypotheses(
            tf.zeros(tf.concat([shape, [0]], axis=0), tf.int32), tf.fill(shape, NEVER)
        )

    def _start(self, batch_size: tf.Tensor, cache: Any, has_slot: tf.Tensor | None) -> Beam:
        if has_slot is None:
            has_slot = tf.zeros(tf.stack([batch_size, len(self._slot_ids)]), tf.bool)
        slots_left = tf.repeat(has_slot[:, None], self._beam_size, axis=1)
        none = self._no_hypotheses(batch_size)
        # Only one hypothesis at the start; `beam_size` equal ones would stay equal.
        only_one = tf.where(tf.range(self._beam_size) == 0, 0.0, none.scores)
        return Beam(tf.constant(0), none.tokens, only_one, slots_left, none.tokens, none, cache)

    def _done(self, rows: Rows, beam: Beam) -> tf.Tensor:
        if self._early_stopping == "full":
            has_none = tf.math.is_inf(beam.log_probs[:, 0])
            return has_none | ~tf.math.is_inf(beam.ended.scores[:, self._beam_size - 1])
        if self._early_stopping == "heuristic":
            possible = beam.log_probs[:, 0] / self._penalty(tf.maximum(beam.step, 1))
            return possible <= beam.ended.scores[:, self._beam_size - 1]
        # Upper bound of future scores: all further tokens have probability 1, and the length
        # penalty is largest at the limit (log probabilities are negative).
        possible = beam.log_probs[:, 0] / self._penalty(rows.limits + 1)
        return possible <= tf.gather(beam.ended.scores, rows.num_best - 1, axis=1)

    def _penalty(self, num_tokens: tf.Tensor) -> tf.Tensor:
        return length_penalty(num_tokens, self._alpha, self._offset)

    def _extend_until(self, rows: Rows, beam: Beam, leaving: tf.Tensor) -> Beam:
        """Extend the beam until `leaving` rows are finished or the buffers are full."""

        def unfinished(beam: Beam) -> tf.Tensor:
            num_done = tf.reduce_sum(tf.cast(self._done(rows, beam), tf.int32))
            return (beam.step < tf.shape(beam.tokens)[-1]) & (num_done < leaving)

        (beam,) = tf.while_loop(
            unfinished,
            lambda beam: (self._extend(rows, beam),),
            (beam,),
            shape_invariants=(_any_shape(beam),),
        )
        return beam

    def _extend(self, rows: Rows, beam: Beam) -> Beam:
        beam_size = self._beam_size
        at_step = tf.range(tf.shape(beam.tokens)[-1]) == beam.step  # (C,)
        ancestors = tf.where(at_step, tf.range(beam_size)[None, :, None], beam.ancestors)
        newest = beam.tokens[:, :, tf.maximum(beam.step - 1, 0)]
        last = tf.where(beam.step > 0, newest, BOS_ID)
        logits, cache = self._step(last, beam.step, ancestors, beam.cache, rows.memory)
        # `2 * beam_size`, because up to `beam_size` of the extensions end with EOS.
        totals, parent, token = self._best_extensions(rows, beam, logits, 2 * beam_size)
        tokens = tf.gather(beam.tokens, parent, batch_dims=1)  # (B, 2K, C)
        ends = tf.equal(token, EOS_ID)

        # 1. finished hypotheses
        scores = tf.where(ends, totals, NEVER) / self._penalty(beam.step + 1)
        scores = tf.concat([beam.ended.scores, scores[:, :beam_size]], axis=1)
        scores, best = tf.math.top_k(scores, beam_size)
        candidates = tf.concat([beam.ended.tokens, tokens[:, :beam_size]], axis=1)
        ended = Hypotheses(tf.gather(candidates, best, batch_dims=1), scores)

        # 2. unfinished hypotheses
        totals, best = tf.math.top_k(tf.where(ends, NEVER, totals), beam_size)  # (B, K)
        parent, token, tokens = (tf.gather(x, best, batch_dims=1) for x in (parent, token, tokens))
        extended = Beam(
            step=beam.step + 1,
            tokens=tf.where(at_step, token[..., None], tokens),
            log_probs=totals,
            slots_left=tf.gather(beam.slots_left, parent, batch_dims=1)
            & (token[..., None] != tf.constant(self._slot_ids, tf.int32)),
            ancestors=tf.gather(ancestors, parent, batch_dims=1),
            ended=ended,
            cache=cache,
        )
        if self._early_stopping == "exact":
            return extended
        # A finished row gets no better hypotheses while other rows of the batch are searched.
        is_done = self._done(rows, extended)[:, None]
        return extended._replace(log_probs=tf.where(is_done, NEVER, totals))


def _rows(
    limits: tf.Tensor,
    minimums: tf.Tensor,
    memory: Any,
    num_best: int | tf.Tensor,
    scored: bool | tf.Tensor,
) -> Rows:
    """All rows of a batch, in order."""
    index = tf.range(tf.shape(limits)[0])
    num_best, scored = tf.convert_to_tensor(num_best), tf.convert_to_tensor(scored)
    return Rows(num_best, scored, index, limits, minimums, memory)


def _ended(beam: Beam) -> Hypotheses:
    """Finished hypotheses, without tokens where there is none."""
    tokens, scores = beam.ended
    return Hypotheses(tf.where(tf.math.is_inf(scores)[..., None], PAD_ID, tokens), scores)


def _make_room(beam: Beam, room: tf.Tensor) -> Beam:
    """Lengthen the buffers of a beam by `room` positions."""

    def longer(part: tf.Tensor, value: int = 0) -> tf.Tensor:
        paddings = [[0, room if axis == 2 else 0] for axis in range(part.shape.rank)]
        return tf.pad(part, paddings, constant_values=value)

    return beam._replace(
        tokens=longer(beam.tokens, PAD_ID),
        ancestors=longer(beam.ancestors, -1),
        ended=beam.ended._replace(tokens=longer(beam.ended.tokens, PAD_ID)),
        cache=tf.nest.map_structure(longer, beam.cache),
    )


def _any_shape(state: Any) -> Any:
    """Shape invariants of a loop state in which every size may change."""
    return tf.nest.map_structure(lambda x: tf.TensorShape([None] * x.shape.rank), state)
