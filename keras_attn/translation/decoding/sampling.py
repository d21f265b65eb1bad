"""Sampling of translations in the graph."""

from typing import Any

import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.beams import Rows
from keras_attn.translation.decoding.constraints import (
    FORBIDDEN_IDS,
    NEG_INF,
    Constraints,
    length_limits,
    num_tokens,
)
from keras_attn.translation.decoding.greedy_search import GreedySearch
from keras_attn.translation.decoding.steps import DecoderSteps, Memory
from keras_attn.translation.special_ids import EOS_ID


def truncate(logits: tf.Tensor, top_k: tf.Tensor, top_p: tf.Tensor) -> tf.Tensor:
    """Set logits `(B, V)` outside the `top_k` likeliest (0: all) or outside the nucleus to -inf.

    The nucleus is the smallest set of likeliest tokens with a total probability of at least
    `top_p` (Holtzman et al. 2020, section 3.1). The likeliest token is always kept.
    """
    ordered = tf.sort(logits, direction="DESCENDING")
    likelier = tf.cumsum(tf.nn.softmax(ordered), axis=-1, exclusive=True)
    ranks = tf.range(tf.shape(logits)[-1])
    kept = (likelier < top_p) & ((top_k <= 0) | (ranks < top_k)) | (ranks == 0)
    lowest = tf.reduce_min(tf.where(kept, ordered, float("inf")), axis=-1, keepdims=True)
    return tf.where(logits < lowest, NEG_INF, logits)


def sample_translations(
    model: Transformer,
    memory: Memory,
    config: Config,
    seed: tf.Tensor,
    temperature: tf.Tensor,
    top_k: tf.Tensor,
    top_p: tf.Tensor,
) -> tf.Tensor:
    """Sampled target ids of each source without EOS, int32 `(B, L)`, padded with 0.

    The same arguments give the same translations. Logits are divided by `temperature` and
    truncated (`truncate`): a temperature below 1 makes likely tokens likelier.
    """
    limits = length_limits(num_tokens(memory.source_ids), config)
    steps = DecoderSteps(model, beam_size=1)

    def draw(last: tf.Tensor, position: tf.Tensor, *state: Any) -> tuple[tf.Tensor, Any]:
        """Step after which only a token drawn for each row is possible, EOS at the limit."""
        logits, cache = steps.step(last, position, *state)
        ids = tf.range(logits.shape[-1])
        is_forbidden = tf.reduce_any(ids[:, None] == tf.constant(FORBIDDEN_IDS), axis=-1)
        logits = tf.where(is_forbidden, NEG_INF, tf.cast(logits[:, 0], tf.float32))  # (B, V)
        logits = truncate(logits / temperature, top_k, top_p)
        drawn = tf.random.stateless_categorical(
            logits, 1, seed=tf.stack([seed, position]), dtype=tf.int32
        )
        drawn = tf.where(position < limits[:, None], drawn, EOS_ID)
        return tf.where(ids == drawn[..., None], 0.0, NEG_INF), cache

    rows = Rows(
        tf.range(tf.size(limits)),
        limits,
        minimums=tf.zeros_like(limits),
        has_placeholder=tf.zeros([tf.size(limits), 0], tf.bool),
        memory=memory,
        num_best=tf.constant(1),
        scored=tf.constant(False),
    )
    longest = tf.reduce_max(tf.concat([limits, [1]], 0))
    search = GreedySearch(draw, Constraints())
    return search.with_static_shapes(steps.make_cache(memory), rows, longest).tokens[:, 0]
