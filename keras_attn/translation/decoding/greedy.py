"""Token-by-token decoding with the key/value cache, and greedy search with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.limits import is_forbidden, length_limits, num_tokens
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID

Cache = Any  # a structure of tensors, batch first

# (last tokens (B,) int32, step () int32, cache) -> (logits (B, V), cache)
Step = Callable[[tf.Tensor, tf.Tensor, Cache], tuple[tf.Tensor, Cache]]

# (logits (B, V) with -inf for what must not be said, step ()) -> tokens (B,) int32
Choose = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


class SearchState(NamedTuple):
    """State of a search with one hypothesis a row between two steps."""

    step: tf.Tensor  # int32 (): position of the next token
    tokens: tf.Tensor  # int32 (B, L): the translations so far, padding behind them
    last: tf.Tensor  # int32 (B,): the newest token of each row
    finished: tf.Tensor  # bool (B,): rows that said EOS or reached their limit
    cache: Cache


def greedy(step: Step, cache: Cache, limits: tf.Tensor) -> tf.Tensor:
    """`one_by_one` with the likeliest token at each position."""
    return one_by_one(
        step, cache, limits, lambda logits, _: tf.argmax(logits, axis=-1, output_type=tf.int32)
    )


def one_by_one(step: Step, cache: Cache, limits: tf.Tensor, choose: Choose) -> tf.Tensor:
    """A token at each position until EOS or the row's limit.

    Args:
        step: Gives the logits of the next token.
        cache: What `step` carries along.
        limits: Longest translation of each row, int32 `(B,)`, at least 1.
        choose: Picks the next token of each row.

    Returns:
        Target ids `(B, L)`, int32, padded behind their end; EOS is not among them. `L` is the
        greatest limit.
    """
    batch_size = tf.shape(limits)[0]
    longest = tf.reduce_max(tf.concat([limits, [1]], 0))
    state = SearchState(
        step=tf.constant(0),
        tokens=tf.fill([batch_size, longest], PAD_ID),
        last=tf.fill([batch_size], BOS_ID),
        finished=tf.zeros([batch_size], tf.bool),
        cache=cache,
    )

    def unfinished(state: SearchState) -> tf.Tensor:
        return tf.logical_and(state.step < longest, tf.logical_not(tf.reduce_all(state.finished)))

    def extend(state: SearchState) -> tuple[SearchState]:
        logits, new_cache = step(state.last, state.step, state.cache)
        forbidden = is_forbidden(tf.shape(logits)[-1])
        logits = tf.where(forbidden, float("-inf"), tf.cast(logits, tf.float32))  # (B, V)
        token = choose(logits, state.step)  # (B,)
        finished = state.finished | (token == EOS_ID)
        token = tf.where(finished, PAD_ID, token)
        at_step = tf.range(longest)[None, :] == state.step  # (1, L)
        return (
            SearchState(
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


def _shape_invariants(state: SearchState) -> Any:
    """Shapes that stay as they are, with every size that is not static left open."""
    return tf.nest.map_structure(lambda tensor: tensor.shape, state)


class Decoding(NamedTuple):
    """Step function and empty cache with which a search begins."""

    step: Step
    cache: Cache  # keys and values of self-attention; those of the memory are constant, not in it


def begin(
    model: Transformer, source_ids: tf.Tensor, length: tf.Tensor, beam_size: int = 1
) -> Decoding:
    """The steps of a model's decoder over the memory of some sources.

    Args:
        model: The trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        length: Most steps, int32 `()`.
        beam_size: Hypotheses of each row; the step takes that many rows for each.
    """
    source_mask = tf.not_equal(source_ids, PAD_ID)  # (B, S)
    memory = model.encoder(source_ids, training=False)  # (B, S, D)
    caches = model.decoder.make_cache(beam_size * tf.shape(source_ids)[0], length, memory=memory)
    projected = [
        {name: tf.repeat(part, beam_size, axis=0) for name, part in cache["memory"].items()}
        for cache in caches
    ]
    memory_mask = tf.repeat(source_mask, beam_size, axis=0)

    def step(last: tf.Tensor, position: tf.Tensor, cache: Cache) -> tuple[tf.Tensor, Cache]:
        both = [
            {"self": own, "memory": memory} for own, memory in zip(cache, projected, strict=True)
        ]
        logits, both = model.decoder(
            last[:, None], cache=both, start=position, memory_mask=memory_mask, training=False
        )
        return logits[:, 0], [cache["self"] for cache in both]

    return Decoding(step, [cache["self"] for cache in caches])


def translate_ids(model: Transformer, source_ids: tf.Tensor, config: Config) -> tf.Tensor:
    """Greedy translations of a batch.

    Args:
        model: The trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        config: Of the model.

    Returns:
        Target ids `(B, L)`, int32, without EOS, padded with id 0.
    """
    limits = length_limits(num_tokens(source_ids), config)
    step, cache = begin(model, source_ids, tf.reduce_max(tf.concat([limits, [1]], 0)))
    return greedy(step, cache, limits)
