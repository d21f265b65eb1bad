"""Logits of the vocabulary in blocks, so that a search sorts only the best of them."""

from __future__ import annotations

import tensorflow as tf

BLOCK = 64  # tokens


def in_blocks(logits: tf.Tensor) -> tf.Tensor:
    """Reshape logits `(B, K, V)` to `(B, K, N, BLOCK)`, padded with -inf at the end."""
    missing = -logits.shape[-1] % BLOCK
    if missing:
        logits = tf.pad(logits, [[0, 0], [0, 0], [0, missing]], constant_values=float("-inf"))
    shape = tf.shape(logits)
    return tf.reshape(logits, tf.stack([shape[0], shape[1], logits.shape[-1] // BLOCK, BLOCK]))


def log_sum_exp(logits: tf.Tensor, highest: tf.Tensor) -> tf.Tensor:
    """Logarithm of the sum of the exponentials of all logits of a hypothesis, `(B, K)`.

    Computed from the softmax of the likeliest token: `tf.nn.softmax` is the only pass over all
    tokens for which TensorFlow makes no intermediate copy.

    Args:
        logits: `(B, K, N, BLOCK)`.
        highest: Maximum of each block, `(B, K, N)`.

    Returns:
        float32 `(B, K)`.
    """
    shape = tf.shape(logits)
    block = tf.argmax(highest, axis=-1, output_type=tf.int32)[..., None]  # (B, K, 1)
    token = tf.argmax(tf.gather(logits, block, batch_dims=2), axis=-1, output_type=tf.int32)
    likeliest = (block * BLOCK + token)[..., 0]  # (B, K)
    flat = tf.reshape(logits, tf.stack([shape[0] * shape[1], shape[2] * BLOCK]))
    place = tf.stack([tf.range(shape[0] * shape[1]), tf.reshape(likeliest, [-1])], axis=-1)
    probability = tf.reshape(tf.gather_nd(tf.nn.softmax(flat), place), shape[:2])
    return tf.reduce_max(highest, axis=-1) - tf.math.log(probability)
