"""Limits of a translation: maximum length and forbidden ids."""

from __future__ import annotations

import tensorflow as tf

from keras_attn.translation.special_ids import BOS_ID, PAD_ID, UNK_ID

# Ids that no translation contains: the model is never trained to generate them.
FORBIDDEN_IDS = (PAD_ID, UNK_ID, BOS_ID)


def num_tokens(ids: tf.Tensor) -> tf.Tensor:
    """Number of tokens of each row without padding, int32 `(B,)`."""
    return tf.reduce_sum(tf.cast(tf.not_equal(ids, PAD_ID), tf.int32), axis=1)


def length_limits(num_source_tokens: tf.Tensor, max_pieces: int, ratio: float) -> tf.Tensor:
    """Maximum length of each translation, EOS not counted, int32 `(B,)`.

    `ratio * source length + 10`, at most `max_pieces`. The limit depends only on the source of the
    row, so a translation does not depend on the other rows of a batch.

    Args:
        num_source_tokens: Number of tokens of each source, int32 `(B,)`.
        max_pieces: Upper bound of the limit, in pieces.
        ratio: Maximum ratio of target length to source length.
    """
    longest = tf.cast(ratio * tf.cast(num_source_tokens, tf.float32), tf.int32) + 10
    return tf.minimum(longest, max_pieces)


def is_forbidden(vocab_size: tf.Tensor) -> tf.Tensor:
    """Mask of forbidden ids, boolean `(V,)`."""
    ids = tf.range(vocab_size)
    return tf.reduce_any(ids[:, None] == tf.constant(FORBIDDEN_IDS), axis=-1)
