"""Beam search: the best of several hypotheses of each row, inside the graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding import (
    Cache,
    Step,
    begin,
    is_forbidden,
    length_limits,
    num_tokens,
)
from keras_attn.translation.tokenizer import BOS_ID, EOS_ID, PAD_ID

NEVER = float("-inf")


class Hypotheses(NamedTuple):
    """What a search found, best first.

    Attributes:
        tokens: int32 `(B, N, L)`, without EOS, padded behind their end.
        scores: float32 `(B, N)`, log probability by length penalty; -inf where there is no
            further hypothesis.
    """

    tokens: tf.Tensor
    scores: tf.Tensor


class BeamState(NamedTuple):
    """What one step of beam search hands to the next."""

    step: tf.Tensor  # int32 (): position of the next token
    tokens: tf.Tensor  # int32 (B, K, L): hypotheses that go on, padding behind them
    log_probs: tf.Tensor  # float32 (B, K): of those, best first; -inf where there is none
    ended: Hypotheses  # (B, K): those that said EOS; nothing takes their place but better ones
    cache: Cache  # of B * K rows


def length_penalty(num_tokens: tf.Tensor, alpha: float) -> tf.Tensor:
    """What the log probability of `num_tokens` tokens, EOS among them, is divided by.

    `((5 + |Y|) / 6)^alpha` (Wu et al. 2016, section 7, equation 14).
    """
    return ((5.0 + tf.cast(num_tokens, tf.float32)) / 6.0) ** alpha


def beam_search(
    step: Step,
    cache: Cache,
    limits: tf.Tensor,
    minimums: tf.Tensor,
    beam_size: int,
    num_best: int = 1,
    alpha: float = 1.0,
    no_repeat_ngram: int = 0,
) -> Hypotheses:
    """The hypotheses of the highest scores that a beam of `beam_size` finds.

    Each step extends every hypothesis by every token and keeps the best; one that says EOS while
    it is among the `beam_size` best has ended. A row is done when not even a hypothesis that went
    on for free to its limit could be better than its `num_best` ended ones, so that stopping
    changes nothing. Probabilities are the model's own: what is forbidden is never taken, and its
    share goes to no other token.

    Args:
        step: Gives the logits of the next token of `B * K` rows, `K` for each row of the batch.
        cache: What `step` carries along, `B * K` rows; it follows the hypotheses.
        limits: Longest translation of each row, EOS not counted, int32 `(B,)`, at least 1.
        minimums: Shortest one, int32 `(B,)`, at most `limits`.
        beam_size: `K`.
        num_best: `N`, how many hypotheses to return, at most `K`.
        alpha: Exponent of the length penalty; 0 for none.
        no_repeat_ngram: Length of token sequences that no translation has twice; 0 for any.

    Returns:
        `N` hypotheses of each row; `L` is the greatest limit.
    """
    batch_size = tf.shape(limits)[0]
    longest = tf.reduce_max(tf.concat([limits, [1]], 0))
    nothing = tf.fill([batch_size, beam_size, longest], PAD_ID)
    only_one = tf.where(tf.range(beam_size) == 0, 0.0, NEVER)  # all would begin the same way
    state = BeamState(
        step=tf.constant(0),
        tokens=nothing,
        log_probs=tf.tile(only_one[None], [batch_size, 1]),
        ended=Hypotheses(nothing, tf.fill([batch_size, beam_size], NEVER)),
        cache=cache,
    )

    def unfinished(state: BeamState) -> tf.Tensor:
        # The greatest score of a future: not a token more to pay for, and the mildest penalty.
        possible = state.log_probs[:, 0] / length_penalty(limits + 1, alpha)
        return tf.reduce_any(possible > state.ended.scores[:, num_best - 1])

    def extend(state: BeamState) -> tuple[BeamState]:
        log_probs, new_cache = _log_probs(step, state, batch_size, beam_size)
        can_end = (minimums <= state.step)[:, None]
        must_end = (limits <= state.step)[:, None]
        log_probs = _forbid(log_probs, can_end, must_end)
        if no_repeat_ngram:
            log_probs = _forbid_repetition(log_probs, state, no_repeat_ngram)
        vocab_size = tf.shape(log_probs)[-1]
        totals = tf.reshape(state.log_probs[..., None] + log_probs, [batch_size, -1])
        # Twice as many: with each hypothesis at most one of them ends.
        totals, index = tf.math.top_k(totals, 2 * beam_size)  # (B, 2K)
        parent, token = index // vocab_size, index % vocab_size
        tokens = tf.gather(state.tokens, parent, batch_dims=1)  # (B, 2K, L)
        ends = tf.equal(token, EOS_ID)

        # 1. hypotheses that end
        scores = tf.where(ends, totals, NEVER) / length_penalty(state.step + 1, alpha)
        scores = tf.concat([state.ended.scores, scores[:, :beam_size]], axis=1)
        scores, best = tf.math.top_k(scores, beam_size)
        candidates = tf.concat([state.ended.tokens, tokens[:, :beam_size]], axis=1)
        ended = Hypotheses(tf.gather(candidates, best, batch_dims=1), scores)

        # 2. hypotheses that go on
        totals, best = tf.math.top_k(tf.where(ends, NEVER, totals), beam_size)  # (B, K)
        parent, token, tokens = (tf.gather(x, best, batch_dims=1) for x in (parent, token, tokens))
        at_step = tf.range(longest) == state.step
        rows = tf.reshape(tf.range(batch_size)[:, None] * beam_size + parent, [-1])
        return (
            BeamState(
                step=state.step + 1,
                tokens=tf.where(at_step, token[..., None], tokens),
                log_probs=totals,
                ended=ended,
                cache=tf.nest.map_structure(lambda x: tf.gather(x, rows), new_cache),
            ),
        )

    # What TensorFlow knows of a size at the start it may not know of it after a step.
    hypotheses = tf.TensorShape([None, beam_size, None])
    invariants = tf.nest.map_structure(
        lambda tensor: tf.TensorShape([None, *tensor.shape[1:]] if tensor.shape.rank else []), state
    )._replace(tokens=hypotheses)
    invariants = invariants._replace(ended=invariants.ended._replace(tokens=hypotheses))
    (state,) = tf.while_loop(unfinished, extend, (state,), shape_invariants=(invariants,))
    found = state.ended.scores[:, :num_best]
    tokens = tf.where(tf.math.is_inf(found)[..., None], PAD_ID, state.ended.tokens[:, :num_best])
    return Hypotheses(tokens, found)


def _log_probs(
    step: Step, state: BeamState, batch_size: tf.Tensor, beam_size: int
) -> tuple[tf.Tensor, Any]:
    """Log probabilities `(B, K, V)` of the next token, and the cache."""
    newest = state.tokens[:, :, tf.maximum(state.step - 1, 0)]
    last = tf.where(state.step > 0, newest, BOS_ID)  # (B, K)
    logits, cache = step(tf.reshape(last, [-1]), state.step, state.cache)
    log_probs = tf.nn.log_softmax(tf.cast(logits, tf.float32))
    return tf.reshape(log_probs, [batch_size, beam_size, tf.shape(logits)[-1]]), cache


def _forbid(log_probs: tf.Tensor, can_end: tf.Tensor, must_end: tf.Tensor) -> tf.Tensor:
    """-inf for what is no token of a translation, and for an end that comes too early or late."""
    vocab_size = tf.shape(log_probs)[-1]
    is_end = tf.range(vocab_size) == EOS_ID  # (V,)
    forbidden = is_forbidden(vocab_size) | (is_end & ~can_end) | (~is_end & must_end)  # (B, V)
    return tf.where(forbidden[:, None], NEVER, log_probs)


def _forbid_repetition(log_probs: tf.Tensor, state: BeamState, n: int) -> tf.Tensor:
    """-inf for tokens that would end a sequence of `n` tokens that the hypothesis has already."""
    shape = tf.shape(log_probs)
    longest = tf.shape(state.tokens)[-1]
    tokens = tf.reshape(state.tokens, [-1, longest])  # (R, L)
    num_starts = tf.maximum(longest - n + 1, 0)
    starts = tf.range(num_starts)
    ahead = tf.range(n - 1)
    # What comes before the next token, and what comes before the token n-1 after each start.
    recent = tf.gather(tokens, tf.maximum(state.step - (n - 1) + ahead, 0), axis=1)  # (R, n-1)
    before = tf.gather(tokens, starts[:, None] + ahead, axis=1)  # (R, starts, n-1)
    repeats = tf.reduce_all(before == recent[:, None], axis=-1)
    repeats = repeats & (starts + n - 1 < state.step)
    followers = tokens[:, n - 1 : n - 1 + num_starts]  # (R, starts)
    # Where nothing repeats, padding is forbidden once more.
    banned = tf.where(repeats, followers, PAD_ID)
    rows = tf.broadcast_to(tf.range(tf.shape(tokens)[0])[:, None], tf.shape(banned))
    flat = tf.reshape(log_probs, [-1, shape[-1]])
    flat = tf.tensor_scatter_nd_min(
        flat, tf.stack([rows, banned], axis=-1), tf.fill(tf.shape(banned), NEVER)
    )
    return tf.reshape(flat, shape)


def best_translations(
    model: Transformer, source_ids: tf.Tensor, config: Config, num_best: int = 1
) -> Hypotheses:
    """The best translations of a batch, by the beam that `config` says; one of 1 is greedy search.

    Args:
        model: The trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        config: Of the model.
        num_best: `N`, at most `config.beam_size`.
    """
    lengths = num_tokens(source_ids)
    limits = length_limits(lengths, config.max_pieces, config.max_length_ratio)
    shortest = tf.cast(config.min_length_ratio * tf.cast(lengths, tf.float32), tf.int32)
    longest = tf.reduce_max(tf.concat([limits, [1]], 0))
    # One step more than the longest translation has pieces: its end.
    step, cache = begin(model, source_ids, longest + 1, config.beam_size)
    return beam_search(
        step,
        cache,
        limits,
        tf.minimum(shortest, limits),
        config.beam_size,
        num_best,
        # Without a penalty nothing better can come when the only hypothesis ends.
        config.length_penalty if config.beam_size > 1 else 0.0,
        config.no_repeat_ngram,
    )
