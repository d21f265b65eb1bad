"""Limits of a translation: maximum length, forbidden ids and repetition."""

from __future__ import annotations

import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.special_ids import BOS_ID, PAD_ID, UNK_ID

# Ids that no translation contains: the model is never trained to generate them.
FORBIDDEN_IDS = (PAD_ID, UNK_ID, BOS_ID)


def forbidden_ids(config: Config) -> tuple[int, ...]:
    """Ids that no translation of a search with these settings contains."""
    return tuple(id for id in FORBIDDEN_IDS if id != UNK_ID or not config.allow_unk)


def num_tokens(ids: tf.Tensor) -> tf.Tensor:
    """Number of tokens of each row without padding, int32 `(B,)`."""
    return tf.reduce_sum(tf.cast(tf.not_equal(ids, PAD_ID), tf.int32), axis=1)


def length_limits(num_source_tokens: tf.Tensor, config: Config) -> tf.Tensor:
    """Maximum length of each translation, EOS not counted, int32 `(B,)`.

    `max_length_ratio` times the source and `max_length_extra` more, at most `max_length`. The limit
    follows from the length of the sentence alone, so no translation depends on the rest of a batch.
    """
    extra = min(config.max_length_extra, config.max_length)
    longest = _share(num_source_tokens, config.max_length_ratio, config.max_length)
    return tf.minimum(longest + extra, config.max_length)


def length_minimums(num_source_tokens: tf.Tensor, limits: tf.Tensor, config: Config) -> tf.Tensor:
    """Minimum length of each translation, EOS not counted, int32 `(B,)`.

    `min_length_ratio` times the source, at most the maximum length in `limits`.
    """
    shortest = _share(num_source_tokens, config.min_length_ratio, config.max_length)
    return tf.minimum(shortest, limits)


def _share(num_source_tokens: tf.Tensor, ratio: float, most: int) -> tf.Tensor:
    """`ratio` times the source, at most `most`, which is applied first: int32 would overflow."""
    share = min(ratio, most) * tf.cast(num_source_tokens, tf.float32)
    return tf.cast(tf.minimum(share, most), tf.int32)


def is_forbidden(vocab_size: tf.Tensor) -> tf.Tensor:
    """Mask of forbidden ids, boolean `(V,)`."""
    ids = tf.range(vocab_size)
    return tf.reduce_any(ids[:, None] == tf.constant(FORBIDDEN_IDS), axis=-1)


def repetitions(tokens: tf.Tensor, step: tf.Tensor, n: int) -> tf.Tensor:
    """Tokens that would repeat an n-gram of a hypothesis, `PAD_ID` where none would.

    Args:
        tokens: Tokens of each hypothesis, padded at the end, int32 `(B, K, C)`.
        step: Number of tokens of each hypothesis, int32 `()`.
        n: Size of the n-grams, at least 1.

    Returns:
        int32 `(B, K, starts)`: one token or `PAD_ID` for each start of an n-gram.
    """
    num_starts = tf.maximum(tf.shape(tokens)[-1] - n + 1, 0)
    starts = tf.range(num_starts)
    ahead = tf.range(n - 1)
    # The last n-1 tokens, and the first n-1 tokens of the n-gram at each start.
    recent = tf.gather(tokens, tf.maximum(step - (n - 1) + ahead, 0), axis=2)  # (B, K, n-1)
    before = tf.gather(tokens, starts[:, None] + ahead, axis=2)  # (B, K, starts, n-1)
    repeats = tf.reduce_all(before == recent[:, :, None], axis=-1) & (starts + n - 1 < step)
    return tf.where(repeats, tokens[:, :, n - 1 : n - 1 + num_starts], PAD_ID)


def forbid(logits: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
    """Set the logits of tokens to -inf.

    Args:
        logits: Logits of each hypothesis, `(B, K, blocks, block size)`.
        tokens: Tokens that each hypothesis must not have next, int32 `(B, K, any)`.
    """
    shape = tf.shape(logits)
    flat = tf.reshape(logits, tf.stack([-1, logits.shape[2] * logits.shape[3]]))
    tokens = tf.reshape(tokens, tf.stack([shape[0] * shape[1], tf.shape(tokens)[2]]))
    rows = tf.broadcast_to(tf.range(tf.shape(tokens)[0])[:, None], tf.shape(tokens))
    flat = tf.tensor_scatter_nd_min(
        flat, tf.stack([rows, tokens], axis=-1), tf.fill(tf.shape(tokens), float("-inf"))
    )
    return tf.reshape(flat, shape)
