"""State of beam search between two steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

NEVER = float("-inf")  # log probability of what must not happen


class Hypotheses(NamedTuple):
    """Hypotheses of each row, best first.

    Attributes:
        tokens: Token ids without EOS, padded at the end, int32 `(B, K, L)`.
        scores: Log probabilities divided by the length penalty, float32 `(B, K)`; -inf if a row
            has fewer than `K` hypotheses.
    """

    tokens: tf.Tensor
    scores: tf.Tensor


class Rows(NamedTuple):
    """Constants of the rows that are still searched."""

    num_best: tf.Tensor  # int32 (): number of hypotheses to find
    scored: tf.Tensor  # bool (): whether the scores are needed
    index: tf.Tensor  # int32 (B,): index of each row in the batch
    limits: tf.Tensor  # int32 (B,): maximum length, EOS not counted
    minimums: tf.Tensor  # int32 (B,): minimum length, EOS not counted
    memory: Any  # tensors (B, ...)


class Beam(NamedTuple):
    """State of beam search between two steps."""

    step: tf.Tensor  # int32 (): position of the next token
    tokens: tf.Tensor  # int32 (B, K, C): unfinished hypotheses, padded at the end
    log_probs: tf.Tensor  # float32 (B, K): their log probabilities, best first; -inf if missing
    slots_left: tf.Tensor  # bool (B, K, slots): whether they may still have each slot
    ancestors: tf.Tensor  # int32 (B, K, C): see `Step`
    ended: Hypotheses  # (B, K): finished hypotheses, the best K by score
    cache: Any
