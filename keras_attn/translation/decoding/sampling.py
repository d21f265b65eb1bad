"""Sampling of translations in the graph."""

from __future__ import annotations

import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.greedy import begin, one_by_one
from keras_attn.translation.decoding.limits import length_limits, num_tokens


def truncate(logits: tf.Tensor, top_k: tf.Tensor, top_p: tf.Tensor) -> tf.Tensor:
    """Set the logits of tokens outside the `top_k` likeliest or outside the nucleus to -inf.

    The nucleus is the smallest set of likeliest tokens with a total probability of at least
    `top_p` (Holtzman et al. 2020, section 3.1).

    Args:
        logits: Logits, float32 `(B, V)`.
        top_k: Number of tokens to keep, int32 `()`; 0 for all.
        top_p: Probability of the nucleus, above 0, at most 1, float32 `()`; 1 for all.

    Returns:
        Logits `(B, V)`; the likeliest token is always kept.
    """
    ordered = tf.sort(logits, direction="DESCENDING")
    likelier = tf.cumsum(tf.nn.softmax(ordered), axis=-1, exclusive=True)
    ranks = tf.range(tf.shape(logits)[-1])
    kept = (likelier < top_p) & ((top_k <= 0) | (ranks < top_k)) | (ranks == 0)
    lowest = tf.reduce_min(tf.where(kept, ordered, float("inf")), axis=-1, keepdims=True)
    return tf.where(logits < lowest, float("-inf"), logits)


def sample_translations(
    model: Transformer,
    source_ids: tf.Tensor,
    config: Config,
    seed: tf.Tensor,
    temperature: tf.Tensor,
    top_k: tf.Tensor,
    top_p: tf.Tensor,
) -> tf.Tensor:
    """Sample one translation of each source; the same arguments give the same translations.

    Args:
        model: Trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        config: Configuration of the model.
        seed: Random seed, int32 `()`.
        temperature: Divisor of the logits, above 0, float32 `()`. Values below 1 make likely tokens
            likelier.
        top_k: Number of likeliest tokens to sample from; see `truncate`.
        top_p: Probability of the nucleus; see `truncate`.

    Returns:
        Target ids without EOS, padded with id 0, int32 `(B, L)`.
    """
    limits = length_limits(num_tokens(source_ids), config)
    step, cache = begin(model, source_ids, tf.reduce_max(tf.concat([limits, [1]], 0)))

    def choose(logits: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
        logits = truncate(logits / temperature, top_k, top_p)
        drawn = tf.random.stateless_categorical(
            logits, 1, seed=tf.stack([seed, position]), dtype=tf.int32
        )
        return drawn[:, 0]

    return one_by_one(step, cache, limits, choose)
