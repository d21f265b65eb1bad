"""Translations that begin with given tokens."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from keras_attn.translation.decoding.beam_search import Step
from keras_attn.translation.decoding.beams import NEVER
from keras_attn.translation.special_ids import PAD_ID


def beginning_with(prefix: tf.Tensor, limits: tf.Tensor, step: Step) -> Step:
    """Return a step of `BeamSearch` after which only the next token of a prefix is possible.

    The token keeps its probability, so that scores are those of whole translations. Padding, which
    no hypothesis has, gets the probability of all other tokens.

    Args:
        prefix: Ids that each translation begins with, int32 `(B, P)`, padded with id 0.
        limits: Maximum length of each translation, EOS not counted, int32 `(B,)`. Ids of the prefix
            beyond it have no effect.
        step: Step of the model. Rows must stay in the search until it ends (`BeamSearch.at_once`).
    """
    places = tf.range(tf.shape(prefix)[1])
    # One column more, so that there is padding after the prefix.
    given = tf.pad(tf.where(places < limits[:, None], prefix, PAD_ID), [[0, 0], [0, 1]])

    def forced(
        last: tf.Tensor, position: tf.Tensor, ancestors: tf.Tensor, cache: Any, memory: Any
    ) -> tuple[tf.Tensor, Any]:
        logits, cache = step(last, position, ancestors, cache, memory)
        logits = tf.cast(logits, tf.float32)  # (B, K, V)
        token = given[:, tf.minimum(position, tf.shape(given)[1] - 1)][:, None, None]
        ids = tf.range(logits.shape[-1])
        others = tf.reduce_logsumexp(
            tf.where(ids == token, NEVER, logits), axis=-1, keepdims=True
        )  # (B, K, 1)
        only = tf.where(ids == token, logits, tf.where(ids == PAD_ID, others, NEVER))
        return tf.where(token == PAD_ID, logits, only), cache

    return forced
