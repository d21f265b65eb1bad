"""Sampling of translations in the graph."""

import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.constraints import (
    FORBIDDEN_IDS,
    NEG_INF,
    length_limits,
    num_tokens,
)
from keras_attn.translation.decoding.steps import DecoderSteps, Memory
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID


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
    longest = tf.reduce_max(tf.concat([limits, [1]], 0))
    # Not in place: TensorFlow makes the empty caches of all layers one tensor.
    steps = DecoderSteps(model, beam_size=1)
    cache = tf.nest.map_structure(
        lambda part: tf.pad(part, [[0, 0], [0, 0], [0, longest], [0, 0]]),
        steps.make_cache(memory),
    )
    places = tf.range(longest)

    def unfinished(step, tokens, last, finished, cache):
        return (step < longest) & ~tf.reduce_all(finished)

    def extend(step, tokens, last, finished, cache):
        written = tf.where(places <= step, 0, -1)  # the only hypothesis made all positions
        ancestors = tf.tile(written[None, None], tf.stack([tf.size(limits), 1, 1]))
        logits, cache = steps.step(last[:, None], step, ancestors, cache, memory)
        ids = tf.range(tf.shape(logits)[-1])
        is_forbidden = tf.reduce_any(ids[:, None] == tf.constant(FORBIDDEN_IDS), axis=-1)
        logits = tf.where(is_forbidden, NEG_INF, tf.cast(logits[:, 0], tf.float32))  # (B, V)
        logits = truncate(logits / temperature, top_k, top_p)
        drawn = tf.random.stateless_categorical(
            logits, 1, seed=tf.stack([seed, step]), dtype=tf.int32
        )[:, 0]
        finished = finished | (drawn == EOS_ID)
        last = tf.where(finished, PAD_ID, drawn)
        tokens = tf.where(places == step, last[:, None], tokens)
        return step + 1, tokens, last, finished | (step + 1 >= limits), cache

    state = (
        tf.constant(0),
        tf.fill(tf.stack([tf.size(limits), longest]), PAD_ID),
        tf.fill(tf.shape(limits), BOS_ID),
        tf.zeros(tf.shape(limits), tf.bool),
        cache,
    )
    return tf.while_loop(unfinished, extend, state)[1]
