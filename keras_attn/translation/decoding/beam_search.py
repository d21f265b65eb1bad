"""Beam search: the best of several hypotheses of each row, inside the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from keras_attn.translation.decoding.limits import FORBIDDEN_IDS
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID

NEVER = float("-inf")
# Positions that room is made for at a time.
ROOM = 16
# Rows that are done leave when they are one in so many.
LEAVING = 8
# The best tokens are looked for among the best of so many at a time.
BLOCK = 64

# (last tokens (B, K) int32, position () int32, ancestors (B, K, C) int32, cache, memory) ->
# (logits (B, K, V), cache)
#
# `ancestors` says which hypothesis of the row said what this one has at each position up to this
# one, -1 elsewhere. Each tensor of the cache is `(B, any, C, ...)`; what is in it stays where it
# is when hypotheses change places. Each tensor of the memory is `(B, ...)`.
Step = Callable[[tf.Tensor, tf.Tensor, tf.Tensor, Any, Any], tuple[tf.Tensor, Any]]


class Hypotheses(NamedTuple):
    """Hypotheses of each row, best first.

    Attributes:
        tokens: int32 `(B, N, L)`, without EOS, padded behind their end.
        scores: float32 `(B, N)`, log probability by length penalty; -inf where there is no
            further hypothesis.
    """

    tokens: tf.Tensor
    scores: tf.Tensor


class Rows(NamedTuple):
    """Constants of the rows that are searched together."""

    index: tf.Tensor  # int32 (B,): which rows of the batch they are
    limits: tf.Tensor  # int32 (B,)
    minimums: tf.Tensor  # int32 (B,)
    memory: Any


class Beam(NamedTuple):
    """State of beam search between two steps."""

    step: tf.Tensor  # int32 (): position of the next token
    tokens: tf.Tensor  # int32 (B, K, C): hypotheses that go on, padding behind them
    log_probs: tf.Tensor  # float32 (B, K): of those, best first; -inf where there is none
    ancestors: tf.Tensor  # int32 (B, K, C): as `Step` has them
    ended: Hypotheses  # (B, K): finished hypotheses, the best K by score
    cache: Any


def length_penalty(num_tokens: tf.Tensor, alpha: float) -> tf.Tensor:
    """Divisor of the log probability of `num_tokens` tokens, EOS included.

    `((5 + |Y|) / 6)^alpha` (Wu et al. 2016, section 7, equation 14).
    """
    return ((5.0 + tf.cast(num_tokens, tf.float32)) / 6.0) ** alpha


class BeamSearch:
    """Finds the hypotheses of the highest scores that a beam of `beam_size` finds.

    Each step extends every hypothesis by every token and keeps the best; one that says EOS while
    it is among the `beam_size` best has ended. A row is done when not even a hypothesis that went
    on for free to its limit could be better than its `num_best` ended ones, so that stopping
    changes nothing. Probabilities are the model's own: what is forbidden is never taken, and its
    share goes to no other token.

    Args:
        step: Gives the logits of the next tokens.
        beam_size: `K`.
        num_best: `N`, how many hypotheses to return, at most `K`.
        alpha: Exponent of the length penalty; 0 for none.
        no_repeat_ngram: Length of token sequences that no translation has twice; 0 for any.
    """

    def __init__(
        self,
        step: Step,
        beam_size: int,
        num_best: int = 1,
        alpha: float = 1.0,
        no_repeat_ngram: int = 0,
    ):
        self._step = step
        self._beam_size = beam_size
        self._num_best = num_best
        self._alpha = alpha
        self._no_repeat_ngram = no_repeat_ngram

    def __call__(
        self, cache: Any, memory: Any, limits: tf.Tensor, minimums: tf.Tensor
    ) -> Hypotheses:
        """Search, with rows that leave when they are done and room that grows as it is needed.

        Args:
            cache: What `step` carries along, with room for no position yet.
            memory: What `step` reads of each row.
            limits: Longest translation of each row, EOS not counted, int32 `(B,)`, at least 1.
            minimums: Shortest one, int32 `(B,)`, at most `limits`.

        Returns:
            `N` hypotheses of each row.
        """
        batch_size = tf.shape(limits)[0]
        rows = Rows(tf.range(batch_size), limits, minimums, memory)
        found = Hypotheses(
            tf.zeros(tf.stack([batch_size, self._num_best, 0]), tf.int32),
            tf.fill(tf.stack([batch_size, self._num_best]), NEVER),
        )

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
            best = self._best(beam)
            place = tf.gather(rows.index, leave)[:, None]
            found = Hypotheses(
                *(
                    tf.tensor_scatter_nd_update(all_rows, place, tf.gather(its, leave))
                    for all_rows, its in zip((tokens, found.scores), best, strict=True)
                )
            )
            rows, beam = tf.nest.map_structure(
                lambda x: tf.gather(x, stay) if x.shape.rank else x, (rows, beam)
            )
            return rows, beam, found

        state = (rows, self._start(batch_size, cache), found)
        *_, found = tf.while_loop(unfinished, search_on, state, shape_invariants=_any_shape(state))
        return found

    def at_once(
        self, cache: Any, memory: Any, limits: tf.Tensor, minimums: tf.Tensor, longest: tf.Tensor
    ) -> Hypotheses:
        """The same in shapes that do not change, as a compiled search needs them.

        Args:
            cache: As above.
            memory: As above.
            limits: As above.
            minimums: As above.
            longest: The greatest limit that could be, int32 `()`.
        """
        batch_size = tf.shape(limits)[0]
        rows = Rows(tf.range(batch_size), limits, minimums, memory)
        # One step more than the longest translation has pieces: its end.
        beam = _make_room(self._start(batch_size, cache), longest + 1)
        return self._best(self._extend_until(rows, beam, batch_size))

    def _start(self, batch_size: tf.Tensor, cache: Any) -> Beam:
        nothing = tf.zeros(tf.stack([batch_size, self._beam_size, 0]), tf.int32)
        none = tf.fill(tf.stack([batch_size, self._beam_size]), NEVER)
        # All would begin the same way.
        only_one = tf.where(tf.range(self._beam_size) == 0, 0.0, none)
        return Beam(tf.constant(0), nothing, only_one, nothing, Hypotheses(nothing, none), cache)

    def _best(self, beam: Beam) -> Hypotheses:
        scores = beam.ended.scores[:, : self._num_best]
        tokens = beam.ended.tokens[:, : self._num_best]
        return Hypotheses(tf.where(tf.math.is_inf(scores)[..., None], PAD_ID, tokens), scores)

    def _done(self, rows: Rows, beam: Beam) -> tf.Tensor:
        # The greatest score of a future: not a token more to pay for, and the mildest penalty.
        possible = beam.log_probs[:, 0] / length_penalty(rows.limits + 1, self._alpha)
        return possible <= beam.ended.scores[:, self._num_best - 1]

    def _extend_until(self, rows: Rows, beam: Beam, leaving: tf.Tensor) -> Beam:
        """Steps until so many rows are done or there is no more room."""

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
        # Twice as many: with each hypothesis at most one of them ends.
        totals, parent, token = self._best_extensions(rows, beam, logits, 2 * beam_size)
        tokens = tf.gather(beam.tokens, parent, batch_dims=1)  # (B, 2K, C)
        ends = tf.equal(token, EOS_ID)

        # 1. hypotheses that end
        scores = tf.where(ends, totals, NEVER) / length_penalty(beam.step + 1, self._alpha)
        scores = tf.concat([beam.ended.scores, scores[:, :beam_size]], axis=1)
        scores, best = tf.math.top_k(scores, beam_size)
        candidates = tf.concat([beam.ended.tokens, tokens[:, :beam_size]], axis=1)
        ended = Hypotheses(tf.gather(candidates, best, batch_dims=1), scores)

        # 2. hypotheses that go on
        totals, best = tf.math.top_k(tf.where(ends, NEVER, totals), beam_size)  # (B, K)
        parent, token, tokens = (tf.gather(x, best, batch_dims=1) for x in (parent, token, tokens))
        return Beam(
            step=beam.step + 1,
            tokens=tf.where(at_step, token[..., None], tokens),
            log_probs=totals,
            ancestors=tf.gather(ancestors, parent, batch_dims=1),
            ended=ended,
            cache=cache,
        )

    def _best_extensions(
        self, rows: Rows, beam: Beam, logits: tf.Tensor, number: int
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Log probabilities, parents and tokens of the best extended hypotheses, `(B, number)`.

        The best are in the blocks of tokens whose best are best, so most tokens are looked at once
        and not ranked. The first block is always ranked: what has rules of its own is in it.
        """
        beam_size = self._beam_size
        logits = _in_blocks(tf.cast(logits, tf.float32))  # (B, K, N, BLOCK)
        batch_size, num_blocks = tf.shape(logits)[0], logits.shape[2]
        highest = tf.reduce_max(logits, axis=-1)  # (B, K, N)
        log_probs = beam.log_probs - _log_sum_exp(logits, highest)  # (B, K)
        if self._no_repeat_ngram:
            logits = _forbid_repetition(logits, beam, self._no_repeat_ngram)
            highest = tf.reduce_max(logits, axis=-1)

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
        # The first blocks of all hypotheses, then the best others.
        first = tf.zeros(tf.stack([batch_size, beam_size]), tf.int32)
        # (At least 1: with one block only there are no others, and nothing is divided.)
        block = tf.concat([first, best % max(others_each, 1) + 1], axis=1)
        parent = tf.concat([first + tf.range(beam_size), best // max(others_each, 1)], axis=1)

        row = tf.range(batch_size)[:, None] * beam_size + parent
        totals = tf.gather(tf.reshape(logits, [-1, BLOCK]), row * num_blocks + block)
        totals = totals + tf.gather(log_probs, parent, batch_dims=1)[..., None]
        totals = _keep_rules(rows, beam, totals, beam_size)
        width = tf.shape(block)[1] * BLOCK
        totals, best = tf.math.top_k(tf.reshape(totals, tf.stack([batch_size, width])), number)
        parent, block = (tf.gather(x, best // BLOCK, batch_dims=1) for x in (parent, block))
        return totals, parent, block * BLOCK + best % BLOCK


def _in_blocks(logits: tf.Tensor) -> tf.Tensor:
    """`(B, K, V)` as `(B, K, N, BLOCK)`, with what is never taken behind the vocabulary."""
    missing = -logits.shape[-1] % BLOCK
    if missing:
        logits = tf.pad(logits, [[0, 0], [0, 0], [0, missing]], constant_values=NEVER)
    shape = tf.shape(logits)
    return tf.reshape(logits, tf.stack([shape[0], shape[1], logits.shape[-1] // BLOCK, BLOCK]))


def _log_sum_exp(logits: tf.Tensor, highest: tf.Tensor) -> tf.Tensor:
    """Of `(B, K, N, BLOCK)`, whose greatest of each block are known: `(B, K)`.

    It is what the logit of any token has to be lessened by to be its log probability, and a softmax
    is the one pass over all tokens that TensorFlow does without a copy of them in between.
    """
    shape = tf.shape(logits)
    block = tf.argmax(highest, axis=-1, output_type=tf.int32)[..., None]  # (B, K, 1)
    token = tf.argmax(tf.gather(logits, block, batch_dims=2), axis=-1, output_type=tf.int32)
    likeliest = (block * BLOCK + token)[..., 0]  # (B, K)
    flat = tf.reshape(logits, tf.stack([shape[0] * shape[1], shape[2] * BLOCK]))
    place = tf.stack([tf.range(shape[0] * shape[1]), tf.reshape(likeliest, [-1])], axis=-1)
    probability = tf.reshape(tf.gather_nd(tf.nn.softmax(flat), place), shape[:2])
    return tf.reduce_max(highest, axis=-1) - tf.math.log(probability)


def _keep_rules(rows: Rows, beam: Beam, totals: tf.Tensor, beam_size: int) -> tf.Tensor:
    """-inf for what is no token of a translation, and for an end that comes too early or late.

    Args:
        rows: Their limits.
        beam: Where it is.
        totals: `(B, blocks, BLOCK)`, the first blocks of all hypotheses before others.
        beam_size: Number of the first blocks.
    """
    must_end = (rows.limits <= beam.step)[:, None, None]
    can_end = (rows.minimums <= beam.step)[:, None, None]
    token = tf.range(BLOCK)
    is_end = token == EOS_ID
    is_forbidden = tf.reduce_any(token[:, None] == tf.constant(FORBIDDEN_IDS), axis=-1)
    is_forbidden = is_forbidden | (is_end & ~can_end) | (~is_end & must_end)  # (B, 1, BLOCK)
    first = tf.where(is_forbidden, NEVER, totals[:, :beam_size])
    others = tf.where(must_end, NEVER, totals[:, beam_size:])
    return tf.concat([first, others], axis=1)


def _forbid_repetition(logits: tf.Tensor, beam: Beam, n: int) -> tf.Tensor:
    """-inf for tokens that would end a sequence of `n` tokens that the hypothesis has already."""
    shape = tf.shape(logits)
    longest = tf.shape(beam.tokens)[-1]
    tokens = tf.reshape(beam.tokens, tf.stack([-1, longest]))  # (R, C)
    num_starts = tf.maximum(longest - n + 1, 0)
    starts = tf.range(num_starts)
    ahead = tf.range(n - 1)
    # What comes before the next token, and what comes before the token n-1 after each start.
    recent = tf.gather(tokens, tf.maximum(beam.step - (n - 1) + ahead, 0), axis=1)  # (R, n-1)
    before = tf.gather(tokens, starts[:, None] + ahead, axis=1)  # (R, starts, n-1)
    repeats = tf.reduce_all(before == recent[:, None], axis=-1)
    repeats = repeats & (starts + n - 1 < beam.step)
    followers = tokens[:, n - 1 : n - 1 + num_starts]  # (R, starts)
    # Where nothing repeats, padding is forbidden once more.
    banned = tf.where(repeats, followers, PAD_ID)
    rows = tf.broadcast_to(tf.range(tf.shape(tokens)[0])[:, None], tf.shape(banned))
    flat = tf.reshape(logits, tf.stack([-1, logits.shape[2] * BLOCK]))
    flat = tf.tensor_scatter_nd_min(
        flat, tf.stack([rows, banned], axis=-1), tf.fill(tf.shape(banned), NEVER)
    )
    return tf.reshape(flat, shape)


def _make_room(beam: Beam, room: tf.Tensor) -> Beam:
    """For so many positions more."""

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
    """Shapes of a state whose sizes may change."""
    return tf.nest.map_structure(lambda x: tf.TensorShape([None] * x.shape.rank), state)
