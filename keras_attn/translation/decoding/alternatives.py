"""Likeliest tokens at each position of a translation."""

from __future__ import annotations

import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.limits import (
    forbidden_ids,
    length_limits,
    length_minimums,
    num_tokens,
)
from keras_attn.translation.special_ids import EOS_ID, PAD_ID


def likeliest_tokens(
    probabilities: tf.Tensor,
    source_ids: tf.Tensor,
    target_ids: tf.Tensor,
    config: Config,
    number: int,
    slot_ids: tuple[int, ...] = (),
) -> tuple[tf.Tensor, tf.Tensor]:
    """Likeliest tokens that a search allows after the tokens before each position.

    Forbidden tokens are skipped without renormalising, as in `BeamSearch`. The rule against
    repeated n-grams is not applied.

    Args:
        probabilities: Probability of each token at each position, float32 `(B, T, V)`.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        target_ids: Piece ids with EOS, int32 `(B, T)`, padded with id 0.
        config: Configuration of the model.
        number: Number of tokens `N` at each position, at most `V`.
        slot_ids: See `BeamSearch`. Defaults to none.

    Returns:
        Token ids, int32 `(B, T, N)`, likeliest first, and their probabilities, float32 `(B, T, N)`.
        Both are 0 for padding and where fewer tokens are allowed.
    """
    size = probabilities.shape[-1]
    ids, position = tf.range(size), tf.range(tf.shape(target_ids)[1])[:, None]
    lengths = num_tokens(source_ids)
    limits = length_limits(lengths, config)
    minimums = length_minimums(lengths, limits, config)
    is_end = ids == EOS_ID
    is_barred = tf.reduce_any(ids[:, None] == tf.constant(forbidden_ids(config)), axis=-1)
    is_barred = is_barred | (is_end & (position < minimums[:, None, None]))
    is_barred = is_barred | (~is_end & (position >= limits[:, None, None]))  # (B, T, V)
    if slot_ids:
        slots = tf.constant(slot_ids)
        is_in_source = tf.reduce_any(source_ids[..., None] == slots, axis=1, keepdims=True)
        uses = tf.cast(target_ids[..., None] == slots, tf.int32)
        is_used = tf.cumsum(uses, axis=1, exclusive=True) > 0  # (B, T, slots)
        around = [[0, 0], [0, 0], [slot_ids[0], size - slot_ids[-1] - 1]]
        is_barred = is_barred | tf.pad(is_used | ~is_in_source, around)
    is_barred = is_barred | tf.equal(target_ids, PAD_ID)[..., None]
    highest, found = tf.math.top_k(tf.where(is_barred, 0.0, probabilities), number)
    return tf.where(highest > 0, found, PAD_ID), highest
