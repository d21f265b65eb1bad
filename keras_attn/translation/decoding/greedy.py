"""Token-by-token decoding with a key/value cache, and greedy search."""

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

# (logits (B, V) with -inf for forbidden ids, step ()) -> tokens (B,) int32
Choose = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


class SearchState(NamedTuple):
    """State between two steps of a search with one hypothesis for each row."""

    step: tf.Tensor  # int32 (): position of the next token
    tokens: tf.Tensor  # int32 (B, L): tokens generated so far, padded at the end
    last: tf.Tensor  # int32 (B,): the last token of each row
    finished: tf.Tensor  # bool (B,): rows that generated EOS or reached their limit
    cache: Cache


def greedy(step: Step, cache: Cache, limits: tf.Tensor) -> tf.Tensor:
    """Greedy search: `one_by_one` with the likeliest token at each position."""
    return one_by_one(
        step, cache, limits, lambda logits, _: tf.argmax(logits, axis=-1, output_type=tf.int32)
    )


def one_by_one(step: Step, cache: Cache, limits: tf.Tensor, choose: Choose) -> tf.Tensor:
    """Generate one token at a time until EOS or the limit of the row.

    Args:
        step: Function that computes the logits of the next token.
        cache: Cache that `step` updates.
        limits: Maximum length of each translation, EOS not counted, at least 1, int32 `(B,)`.
        choose: Function that chooses the next token of each row.

    Returns:
        Target ids without EOS, padded at the end, int32 `(B, L)`. `L` is the largest limit.
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
    """Shape invariants of the loop: the static sizes of the state."""
    return tf.nest.map_structure(lambda tensor: tensor.shape, state)


class Decoding(NamedTuple):
    """Step function and empty cache at the start of a search."""

    step: Step
    cache: Cache  # keys and values of self-attention; `step` holds the constant ones of the memory


def begin(
    model: Transformer, source_ids: tf.Tensor, length: tf.Tensor, beam_size: int = 1
) -> Decoding:
    """Encode sources and prepare token-by-token decoding.

    Args:
        model: Trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        length: Maximum number of steps, int32 `()`.
        beam_size: Number of hypotheses of each source; the step function expects
            `B * beam_size` rows. Defaults to 1.
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
        model: Trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        config: Configuration of the model.

    Returns:
        Target ids without EOS, padded with id 0, int32 `(B, L)`.
    """
    limits = length_limits(num_tokens(source_ids), config)
    step, cache = begin(model, source_ids, tf.reduce_max(tf.concat([limits, [1]], 0)))
    return greedy(step, cache, limits)
