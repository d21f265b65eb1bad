"""State of beam search between two steps."""

from typing import Any, NamedTuple

import tensorflow as tf


class Hypotheses(NamedTuple):
    """Hypotheses of each row, best first."""

    tokens: tf.Tensor  # int32 (B, K, L): token ids without EOS, padded at the end
    # float32 (B, K): log probabilities divided by the length penalty, plus the weighted coverage
    # after `Coverage.ranked`; -inf if a row has fewer than `K` hypotheses
    scores: tf.Tensor


class Rows(NamedTuple):
    """Constants of the rows that are still searched."""

    index: tf.Tensor  # int32 (B,): index of each row in the batch
    limits: tf.Tensor  # int32 (B,): maximum length without EOS, at least 1
    minimums: tf.Tensor  # int32 (B,): minimum length without EOS, at most `limits`
    has_placeholder: tf.Tensor  # bool (B, P): whether the source has each placeholder
    memory: Any  # tensors (B, ...): inputs of a step that depend on the row only
    num_best: tf.Tensor  # int32 (): number of hypotheses to find, from 1 to `K`
    # bool (): whether the scores are needed. Without them, greedy search is faster: it computes no
    # log probabilities, and the scores have no meaning.
    scored: tf.Tensor


class Beam(NamedTuple):
    """State of beam search between two steps."""

    step: tf.Tensor  # int32 (): position of the next token
    tokens: tf.Tensor  # int32 (B, K, C): unfinished hypotheses, padded at the end
    log_probs: tf.Tensor  # float32 (B, K): their log probabilities, best first; -inf if missing
    placeholders_left: tf.Tensor  # bool (B, K, P): whether they may still have each placeholder
    ancestors: Any  # int32 (B, K, C): see `Step`; empty for greedy search
    finished: Any  # `Hypotheses` (B, N), N >= K: the best finished ones; empty for greedy search
    done: tf.Tensor  # bool (B,): whether the search of a row is finished
    cache: Any
