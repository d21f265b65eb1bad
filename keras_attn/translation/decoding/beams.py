"""State of beam search between two steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf


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
    """Constants of the rows that are still searched.

    Attributes:
        index: Index of each row in the batch, int32 `(B,)`.
        limits: Maximum length of each translation, EOS not counted, at least 1, int32 `(B,)`.
        minimums: Minimum length of each translation, at most `limits`, int32 `(B,)`.
        has_placeholder: Whether the source of each row has each placeholder, boolean `(B, P)`.
        memory: Inputs of a step that depend on the row only, tensors `(B, ...)`.
        num_best: Number of hypotheses to find, from 1 to `K`, int32 `()`.
        scored: Whether the scores are needed, boolean `()`. Without them, greedy search is faster:
            it computes no log probabilities, and the scores have no meaning.
    """

    index: tf.Tensor
    limits: tf.Tensor
    minimums: tf.Tensor
    has_placeholder: tf.Tensor
    memory: Any
    num_best: tf.Tensor
    scored: tf.Tensor


class Beam(NamedTuple):
    """State of beam search between two steps."""

    step: tf.Tensor  # int32 (): position of the next token
    tokens: tf.Tensor  # int32 (B, K, C): unfinished hypotheses, padded at the end
    log_probs: tf.Tensor  # float32 (B, K): their log probabilities, best first; -inf if missing
    placeholders_left: tf.Tensor  # bool (B, K, P): whether they may still have each placeholder
    ancestors: tf.Tensor  # int32 (B, K, C): see `Step`
    finished: Hypotheses  # (B, K): finished hypotheses, the best K by score
    cache: Any
