"""Beam search in the graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.beams import Beam, Hypotheses, Rows
from keras_attn.translation.decoding.candidates import best_candidates
from keras_attn.translation.decoding.constraints import NEG_INF, Constraints
from keras_attn.translation.decoding.steps import Step
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID

# Number of positions by which the buffers grow.
BUFFER_GROWTH = 16
# Finished rows are removed from the search when at least 1/8 of the rows are finished.
COMPACT_FRACTION = 8
# Number of tokens by which the rule "lookahead" lets a hypothesis grow. With 2, all of 2,300
# translations are those of "exact", with 0.62 times the steps (benchmarks/results/decode.md).
LOOKAHEAD = 2


class LengthPenalty(NamedTuple):
    """Divisor of the log probability of a hypothesis.

    `((c + |Y|) / (c + 1))^alpha` for `|Y|` tokens, EOS included (Wu et al. 2016, section 7,
    equation 14). With the offset `c = 0`, it is `|Y|^alpha`; with `alpha = 0`, there is none.
    """

    alpha: float = 1.0
    offset: float = 5.0

    @classmethod
    def of(cls, config: Config) -> LengthPenalty:
        """Length penalty of a search. Greedy search has none, and stops at the first EOS."""
        alpha = config.length_penalty if config.beam_size > 1 else 0.0
        return cls(alpha, config.length_penalty_offset)

    def __call__(self, num_tokens: tf.Tensor) -> tf.Tensor:
        length = self.offset + tf.cast(num_tokens, tf.float32)
        return (length / (self.offset + 1.0)) ** self.alpha


class BeamSearch:
    """Beam search with length penalty, early stopping and constraints.

    Each step extends every hypothesis by every token and keeps the best candidates. A hypothesis is
    finished when its candidate with EOS is among the `beam_size` best; the `num_kept` best finished
    ones are kept. `early_stopping` decides when a row is finished:

    - `"exact"`: when no unfinished hypothesis can still beat the `num_best` finished ones, even if
      all its remaining tokens had probability 1. This does not change the result.
    - `"lookahead"`: the same, but a hypothesis ends at most `LOOKAHEAD` tokens from now.
    - `"heuristic"`: when its `beam_size` finished hypotheses have better scores than the best
      unfinished one, divided by the length penalty of its length so far.
    - `"full"`: when it has `beam_size` finished hypotheses.

    Forbidden tokens are skipped without renormalising the probabilities of the other tokens. The
    ids of the constraints are below `candidates.CHUNK`.
    """

    def __init__(
        self,
        step: Step,
        beam_size: int,
        length_penalty: LengthPenalty,
        constraints: Constraints,
        early_stopping: str = "lookahead",
        num_kept: int | None = None,
    ):
        self._step = step
        self._beam_size = beam_size
        self._length_penalty = length_penalty
        self._constraints = constraints
        self._early_stopping = early_stopping
        self._num_kept = num_kept or beam_size

    def __call__(self, cache: Any, rows: Rows) -> Hypotheses:
        """Search with dynamic shapes: finished rows are removed, and buffers grow when needed.

        The given cache has 0 positions. The first `num_best` hypotheses of a row are its best.
        """
        found = self._no_hypotheses(rows)

        def unfinished(rows: Rows, beam: Beam, found: Hypotheses) -> tf.Tensor:
            return tf.size(rows.index) > 0

        def search_on(rows: Rows, beam: Beam, found: Hypotheses):
            is_full = beam.step == tf.shape(beam.tokens)[-1]
            growth = tf.where(is_full, BUFFER_GROWTH, 0)
            beam = _with_room(beam, growth)
            tokens = tf.pad(found.tokens, [[0, 0], [0, 0], [0, growth]])
            num_to_remove = tf.maximum(tf.size(rows.index) // COMPACT_FRACTION, 1)
            beam = self._extend_until(rows, beam, num_to_remove)
            removed, kept = (tf.where(which)[:, 0] for which in (beam.done, ~beam.done))
            place = tf.gather(rows.index, removed)[:, None]
            best_tokens, best_scores = (tf.gather(part, removed) for part in self._found(beam))
            found = Hypotheses(
                tf.tensor_scatter_nd_update(tokens, place, best_tokens),
                tf.tensor_scatter_nd_update(found.scores, place, best_scores),
            )
            rows, beam = tf.nest.map_structure(
                lambda x: tf.gather(x, kept) if x.shape.rank else x, (rows, beam)
            )
            return rows, beam, found

        state = (rows, self._start(cache, rows), found)
        *_, found = tf.while_loop(unfinished, search_on, state, shape_invariants=_any_shape(state))
        return found

    def with_static_shapes(self, cache: Any, rows: Rows, longest: tf.Tensor) -> Hypotheses:
        """Search with static shapes, for XLA; finds the same hypotheses as `__call__`.

        `longest` is an upper bound of `rows.limits`.
        """
        # One more position than the longest translation, for EOS.
        beam = _with_room(self._start(cache, rows), longest + 1)
        return self._found(self._extend_until(rows, beam, tf.size(rows.index)))

    def _no_hypotheses(self, rows: Rows) -> Hypotheses:
        shape = tf.stack([tf.size(rows.index), self._num_kept])
        return Hypotheses(
            tf.zeros(tf.concat([shape, [0]], axis=0), tf.int32), tf.fill(shape, NEG_INF)
        )

    def _start(self, cache: Any, rows: Rows) -> Beam:
        placeholders = tf.repeat(rows.has_placeholder[:, None], self._beam_size, axis=1)
        # Only one hypothesis at the start; `beam_size` equal ones would stay equal.
        only_one = tf.where(tf.range(self._beam_size) == 0, 0.0, NEG_INF)
        only_one = tf.repeat(only_one[None], tf.size(rows.index), axis=0)
        no_tokens = tf.zeros(tf.stack([*tf.unstack(tf.shape(only_one)), 0]), tf.int32)
        done = tf.zeros(tf.shape(rows.index), tf.bool)
        buffers = no_tokens, only_one, placeholders, no_tokens
        return Beam(tf.constant(0), *buffers, self._no_hypotheses(rows), done, cache)

    def _found(self, beam: Beam) -> Hypotheses:
        """Finished hypotheses, without tokens where there is none."""
        tokens, scores = beam.finished
        return Hypotheses(tf.where(tf.math.is_inf(scores)[..., None], PAD_ID, tokens), scores)

    def _is_done(
        self, rows: Rows, step: tf.Tensor, highest: tf.Tensor, finished: tf.Tensor
    ) -> tf.Tensor:
        """Whether each row is finished, boolean `(B,)`.

        `highest (B,)` is the log probability of its best unfinished hypothesis, of `step` tokens,
        and `finished (B, N)` are the scores of its finished ones.
        """
        last = finished[:, self._beam_size - 1]
        if self._early_stopping == "full":
            return tf.math.is_inf(highest) | ~tf.math.is_inf(last)
        if self._early_stopping == "heuristic":
            return highest / self._length_penalty(step) <= last
        # Upper bound of future scores: all further tokens have probability 1, and the length
        # penalty is largest for the longest hypothesis (log probabilities are negative).
        longest = rows.limits
        if self._early_stopping == "lookahead":
            longest = tf.minimum(longest, step + LOOKAHEAD)
        best = tf.gather(finished, rows.num_best - 1, axis=1)
        return highest / self._length_penalty(longest + 1) <= best

    def _extend_until(self, rows: Rows, beam: Beam, num_finished: tf.Tensor) -> Beam:
        """Extend the beam until `num_finished` rows are finished or the buffers are full."""

        def unfinished(beam: Beam) -> tf.Tensor:
            num_done = tf.math.count_nonzero(beam.done, dtype=tf.int32)
            return (beam.step < tf.shape(beam.tokens)[-1]) & (num_done < num_finished)

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
        # `2 * beam_size`, because up to `beam_size` of the candidates end with EOS.
        totals, parent, token = best_candidates(
            rows, beam, logits, 2 * beam_size, self._constraints
        )
        ends = tf.equal(token, EOS_ID)

        # 1. finished hypotheses
        scores = tf.where(ends, totals, NEG_INF) / self._length_penalty(beam.step + 1)
        scores = tf.concat([beam.finished.scores, scores[:, :beam_size]], axis=1)
        scores, best = tf.math.top_k(scores, self._num_kept)
        ended = tf.gather(beam.tokens, parent[:, :beam_size], batch_dims=1)  # (B, K, C)
        both = tf.concat([beam.finished.tokens, ended], axis=1)
        finished = Hypotheses(tf.gather(both, best, batch_dims=1), scores)

        # 2. unfinished hypotheses
        totals, best = tf.math.top_k(tf.where(ends, NEG_INF, totals), beam_size)  # (B, K)
        parent, token = (tf.gather(x, best, batch_dims=1) for x in (parent, token))
        tokens = tf.gather(beam.tokens, parent, batch_dims=1)
        step = beam.step + 1
        done = self._is_done(rows, step, totals[:, 0], scores)
        return Beam(
            step=step,
            tokens=tf.where(at_step, token[..., None], tokens),
            # A finished row gets no better hypotheses while other rows of the batch are searched.
            log_probs=tf.where(done[:, None], NEG_INF, totals),
            placeholders_left=tf.gather(beam.placeholders_left, parent, batch_dims=1)
            & (token[..., None] != tf.constant(self._constraints.placeholder_ids, tf.int32)),
            ancestors=tf.gather(ancestors, parent, batch_dims=1),
            finished=finished,
            done=done,
            cache=cache,
        )


def _with_room(beam: Beam, room: tf.Tensor) -> Beam:
    """Beam with buffers that are `room` positions longer."""

    def longer(part: tf.Tensor, value: int = 0) -> tf.Tensor:
        paddings = [[0, room if axis == 2 else 0] for axis in range(part.shape.rank)]
        return tf.pad(part, paddings, constant_values=value)

    finished, ancestors = beam.finished, beam.ancestors
    return beam._replace(
        tokens=longer(beam.tokens, PAD_ID),
        ancestors=longer(ancestors, -1) if tf.is_tensor(ancestors) else ancestors,
        finished=finished and finished._replace(tokens=longer(finished.tokens, PAD_ID)),
        cache=tf.nest.map_structure(longer, beam.cache),
    )


def _any_shape(state: Any) -> Any:
    """Shape invariants of a loop state in which every size may change."""
    return tf.nest.map_structure(lambda x: tf.TensorShape([None] * x.shape.rank), state)
