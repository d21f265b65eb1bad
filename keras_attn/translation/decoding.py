"""Search: from source ids to target ids, inside the graph, with the decoder's key/value cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID

Cache = Any  # a structure of tensors, batch first
# (last tokens (B,) int32, step () int32, cache) -> (logits (B, V), cache)
Step = Callable[[tf.Tensor, tf.Tensor, Cache], tuple[tf.Tensor, Cache]]

# What no translation contains: the model is never trained to say them.
FORBIDDEN_IDS = (PAD_ID, UNK_ID, BOS_ID)


class GreedyState(NamedTuple):
    """What one step of greedy search hands to the next."""

    step: tf.Tensor  # int32 (): position of the next token
    tokens: tf.Tensor  # int32 (B, L): the translations so far, padding behind them
    last: tf.Tensor  # int32 (B,): the newest token of each row
    finished: tf.Tensor  # bool (B,): rows that said EOS or reached their limit
    cache: Cache


def length_limits(num_source_tokens: tf.Tensor, max_pieces: int) -> tf.Tensor:
    """Longest translation, end mark not counted, for sources of `(B,)` tokens: `(B,)` int32.

    It follows from a sentence's own length, so that no translation depends on its neighbours.
    """
    return tf.minimum(2 * num_source_tokens + 10, max_pieces)


def greedy(step: Step, cache: Cache, limits: tf.Tensor) -> tf.Tensor:
    """The likeliest token at each position until EOS or the row's limit.

    Args:
        step: Gives the logits of the next token.
        cache: What `step` carries along.
        limits: Longest translation of each row, int32 `(B,)`, at least 1.

    Returns:
        Target ids `(B, L)`, int32, padded behind their end; EOS is not among them. `L` is the
        greatest limit.
    """
    batch_size = tf.shape(limits)[0]
    longest = tf.reduce_max(tf.concat([limits, [1]], 0))
    state = GreedyState(
        step=tf.constant(0),
        tokens=tf.fill([batch_size, longest], PAD_ID),
        last=tf.fill([batch_size], BOS_ID),
        finished=tf.zeros([batch_size], tf.bool),
        cache=cache,
    )

    def unfinished(state: GreedyState) -> tf.Tensor:
        return tf.logical_and(state.step < longest, tf.logical_not(tf.reduce_all(state.finished)))

    def extend(state: GreedyState) -> tuple[GreedyState]:
        logits, new_cache = step(state.last, state.step, state.cache)
        allowed = _allowed(tf.shape(logits)[-1])
        best = tf.where(allowed, tf.cast(logits, tf.float32), tf.float32.min)  # (B, V)
        token = tf.argmax(best, axis=-1, output_type=tf.int32)  # (B,)
        finished = state.finished | (token == EOS_ID)
        token = tf.where(finished, PAD_ID, token)
        at_step = tf.range(longest)[None, :] == state.step  # (1, L)
        return (
            GreedyState(
                step=state.step + 1,
                tokens=tf.where(at_step, token[:, None], state.tokens),
                last=token,
                finished=finished | (state.step + 1 >= limits),
                cache=new_cache,
            ),
        )

    (state,) = tf.while_loop(
        unfinished, extend, (state,), shape_invariants=(_shape_invariants(state),)
    )
    return state.tokens


def _allowed(vocab_size: tf.Tensor) -> tf.Tensor:
    ids = tf.range(vocab_size)
    return tf.reduce_all(ids[:, None] != tf.constant(FORBIDDEN_IDS)[None, :], axis=-1)  # (V,)


def _shape_invariants(state: GreedyState) -> Any:
    """Shapes that stay as they are, with every size that is not static left open."""
    return tf.nest.map_structure(lambda tensor: tensor.shape, state)


def translate_ids(model: Transformer, source_ids: tf.Tensor, max_pieces: int) -> tf.Tensor:
    """Greedy translations of a batch.

    Args:
        model: The trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        max_pieces: Longest translation in pieces.

    Returns:
        Target ids `(B, L)`, int32, without EOS, padded with id 0.
    """
    source_mask = tf.not_equal(source_ids, PAD_ID)  # (B, S)
    limits = length_limits(tf.reduce_sum(tf.cast(source_mask, tf.int32), axis=1), max_pieces)
    memory = model.encoder(source_ids, training=False)  # (B, S, D)
    cache = model.decoder.make_cache(
        tf.shape(source_ids)[0], tf.reduce_max(tf.concat([limits, [1]], 0)), memory=memory
    )

    def step(last: tf.Tensor, position: tf.Tensor, cache: Cache) -> tuple[tf.Tensor, Cache]:
        logits, cache = model.decoder(
            last[:, None], cache=cache, start=position, memory_mask=source_mask, training=False
        )
        return logits[:, 0], cache

    return greedy(step, cache, limits)
