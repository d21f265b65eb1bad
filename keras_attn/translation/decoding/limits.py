"""What a translation may not contain and how long it may be."""

from __future__ import annotations

import tensorflow as tf

from keras_attn.translation.special_ids import BOS_ID, PAD_ID, UNK_ID

# What no translation contains: the model is never trained to say them.
FORBIDDEN_IDS = (PAD_ID, UNK_ID, BOS_ID)


def num_tokens(ids: tf.Tensor) -> tf.Tensor:
    """Ids of each row that are no padding, int32 `(B,)`."""
    return tf.reduce_sum(tf.cast(tf.not_equal(ids, PAD_ID), tf.int32), axis=1)


def length_limits(num_source_tokens: tf.Tensor, max_pieces: int, ratio: float) -> tf.Tensor:
    """Longest translation, end mark not counted, for sources of `(B,)` tokens: `(B,)` int32.

    `ratio` times the source and 10 more, at most `max_pieces`. It follows from a sentence's own
    length, so that no translation depends on its neighbours.
    """
    longest = tf.cast(ratio * tf.cast(num_source_tokens, tf.float32), tf.int32) + 10
    return tf.minimum(longest, max_pieces)


def is_forbidden(vocab_size: tf.Tensor) -> tf.Tensor:
    """Which ids no translation contains, boolean `(V,)`."""
    ids = tf.range(vocab_size)
    return tf.reduce_any(ids[:, None] == tf.constant(FORBIDDEN_IDS), axis=-1)
