"""Sampling: translations drawn by their probability, inside the graph."""

from __future__ import annotations

import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.greedy import begin, one_by_one
from keras_attn.translation.decoding.limits import length_limits, num_tokens


def truncate(logits: tf.Tensor, top_k: tf.Tensor, top_p: tf.Tensor) -> tf.Tensor:
    """-inf for tokens outside the `top_k` likeliest and outside the nucleus of `top_p`.

    The nucleus is the smallest set of likeliest tokens whose probabilities reach `top_p`
    (Holtzman et al. 2020, section 3.1).

    Args:
        logits: float32 `(B, V)`.
        top_k: int32 `()`; 0 for any number.
        top_p: float32 `()`, above 0; 1 for all.

    Returns:
        Logits `(B, V)`; the likeliest token always stays.
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
    """A translation of each source, drawn token by token; the same request gives the same.

    Args:
        model: The trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        config: Of the model.
        seed: int32 `()`.
        temperature: float32 `()`, above 0, what logits are divided by; below 1 likely tokens
            become likelier.
        top_k: As in `truncate`.
        top_p: As in `truncate`.

    Returns:
        Target ids `(B, L)`, int32, without EOS, padded with id 0.
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
