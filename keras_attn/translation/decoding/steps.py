"""Memory of source sentences and single decoder steps of several hypotheses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import tensorflow as tf

from keras_attn.decoder import Decoder
from keras_attn.decoder_block import DecoderBlock
from keras_attn.multi_head import MultiHeadAttention
from keras_attn.relative import RelativePosition
from keras_attn.transformer import Transformer
from keras_attn.translation.special_ids import PAD_ID

# (cache, new keys and values, position of the first, masks) -> cache; see
# `MultiHeadAttention.update_cache`.
Update = Callable[..., dict[str, tf.Tensor]]


class Memory(NamedTuple):
    """Source sentences and the keys and values that the decoder attends to.

    Attributes:
        source_ids: `(B, S)`.
        layers: Projected keys and values of each decoder layer, `{"key": (B, G, S, K), "value":
            (B, G, S, K)}`; empty for `WholePrefix`.
    """

    source_ids: tf.Tensor
    layers: tuple[dict[str, tf.Tensor], ...]


# For each decoder layer `{"key": (B, G, C, N * K), "value": (B, G, C, N * K)}`, with room for `C`
# positions of `N` hypotheses; for `WholePrefix` the tokens, int32 `(B, 1, C, N)`.
Cache = Any


def make_steps(model: Transformer, beam_size: int, in_place: bool) -> CachedSteps | WholePrefix:
    """Return the fastest way to decode with a model.

    Args:
        model: Built model.
        beam_size: Number of hypotheses `N` of each sentence.
        in_place: Whether caches may be written in place.
    """
    known = (
        type(model).call is Transformer.call
        and type(model.decoder).call is Decoder.call
        and all(type(block).call is DecoderBlock.call for block in model.decoder.blocks)
    )
    position = model.decoder.position
    # Distances between tokens of several hypotheses are not distances between their slots.
    by_distance = model.decoder.window is not None or (
        isinstance(position, RelativePosition) and not position.takes_positions
    )
    if known and (beam_size == 1 or not by_distance):
        return CachedSteps(model, beam_size, write_in_place if in_place else write)
    return WholePrefix(model, beam_size, write_in_place if in_place else write)


class CachedSteps:
    """Decoding with a cache of keys and values that all hypotheses of a sentence share.

    The hypotheses of a sentence are queries at one position. A mask over the slots of the cache
    selects the past of each.

    Args:
        model: Built model with the methods of `Transformer` and `Decoder`.
        beam_size: Number of hypotheses `N` of each sentence.
        update: Function that writes new keys and values.
    """

    def __init__(self, model: Transformer, beam_size: int, update: Update):
        self._encoder, self._decoder = model.encoder, model.decoder
        self._beam_size = beam_size
        self._update = update
        decoder = model.decoder
        self._num_groups = decoder.num_kv_heads or decoder.num_heads
        self._head_size = decoder.num_hiddens // decoder.num_heads

    def encode(self, source_ids: tf.Tensor) -> Memory:
        """Return the memory of sources `(B, S)`, padded with id 0."""
        memory = self._encoder(source_ids, training=False)
        caches = self._decoder.make_cache(tf.shape(source_ids)[0], 0, memory)
        # Without masks: `source_ids` tell the padding.
        layers = [{name: one["memory"][name] for name in ("key", "value")} for one in caches]
        return Memory(source_ids, tuple(layers))

    def make_cache(self, batch_size: tf.Tensor, memory: Memory) -> Cache:
        """Return an empty cache, with room for 0 positions."""

        def nothing(part: tf.Tensor) -> tf.Tensor:
            width = self._beam_size * self._head_size
            return tf.zeros(tf.stack([batch_size, self._num_groups, 0, width]), part.dtype)

        return tf.nest.map_structure(nothing, list(memory.layers))

    def step(
        self,
        last: tf.Tensor,
        position: tf.Tensor,
        ancestors: tf.Tensor,
        cache: Cache,
        memory: Memory,
    ) -> tuple[tf.Tensor, Cache]:
        """Compute the logits of the next token of each hypothesis.

        Args:
            last: Newest token of each hypothesis, int32 `(B, N)`.
            position: Position of the newest token, int32 `()`.
            ancestors: Index of the hypothesis that generated each position, int32 `(B, N, C)`;
                -1 after `position`.
            cache: Keys and values of the earlier tokens, with room for `position`.
            memory: Result of `encode`.

        Returns:
            Logits `(B, N, V)`, and the cache with the newest tokens.
        """
        number = self._beam_size
        batch_size, _, room = tf.unstack(tf.shape(ancestors))
        own = ancestors[..., None] == tf.range(number)  # (B, N, C, N)
        own = tf.reshape(own, tf.stack([batch_size, number, room * number]))

        def divided(part: tf.Tensor) -> tf.Tensor:
            sizes = [batch_size, self._num_groups, room * number, self._head_size]
            return tf.reshape(part, tf.stack(sizes))

        def joined(part: tf.Tensor) -> tf.Tensor:
            sizes = [batch_size, self._num_groups, room, number * self._head_size]
            return tf.reshape(part, tf.stack(sizes))

        def with_known_sizes(part: tf.Tensor) -> tf.Tensor:  # a loop forgets them
            return tf.ensure_shape(part, [None, self._num_groups, None, self._head_size])

        both = [
            {
                "self": tf.nest.map_structure(divided, own_cache),
                "memory": tf.nest.map_structure(with_known_sizes, of_memory),
            }
            for own_cache, of_memory in zip(cache, memory.layers, strict=True)
        ]
        with _caches_written_by(self._decoder, self._update):
            logits, both = self._decoder(
                last,
                cache=both,
                start=position * number,
                positions=tf.fill([number], position),
                attention_mask=own,
                memory_mask=tf.not_equal(memory.source_ids, PAD_ID),
                training=False,
            )
        return logits, [tf.nest.map_structure(joined, one["self"]) for one in both]


class WholePrefix:
    """Decoding that calls the model on whole hypotheses: slow, and right for any `call`.

    Args:
        model: Built model.
        beam_size: Number of hypotheses `N` of each sentence.
        update: Function that writes new tokens.
    """

    def __init__(self, model: Transformer, beam_size: int, update: Update):
        self._model = model
        self._beam_size = beam_size
        self._update = update

    def encode(self, source_ids: tf.Tensor) -> Memory:
        """Return the sources alone."""
        return Memory(source_ids, ())

    def make_cache(self, batch_size: tf.Tensor, memory: Memory) -> Cache:
        """Return tokens with room for 0 positions."""
        return tf.zeros(tf.stack([batch_size, 1, 0, self._beam_size]), tf.int32)

    def step(
        self,
        last: tf.Tensor,
        position: tf.Tensor,
        ancestors: tf.Tensor,
        cache: Cache,
        memory: Memory,
    ) -> tuple[tf.Tensor, Cache]:
        """Compute the logits of the next token of each hypothesis, as in `CachedSteps`."""
        batch_size, number, room = tf.unstack(tf.shape(ancestors))
        new = {"tokens": last[:, None, :, None]}  # (B, 1, N, 1)
        slots = tf.reshape(cache, tf.stack([batch_size, 1, room * number, 1]))
        slots = self._update({"tokens": slots}, new, position * number)["tokens"]
        tokens = tf.reshape(slots, tf.stack([batch_size, 1, room, number]))
        # The token at each position of each hypothesis.
        own = tf.one_hot(ancestors, self._beam_size, dtype=tf.int32)  # (B, N, C, N)
        # No more positions than tokens: a learned table has no rows for the rest of the room.
        prefixes = tf.reduce_sum(own * tokens, axis=-1)[:, :, : position + 1]
        rows = tf.reshape(prefixes, tf.stack([batch_size * number, position + 1]))
        sources = tf.repeat(memory.source_ids, self._beam_size, axis=0)
        logits = self._model((sources, rows), training=False)[:, -1]
        return tf.reshape(logits, tf.stack([batch_size, number, logits.shape[-1]])), tokens


@contextmanager
def _caches_written_by(decoder: Decoder, update: Update) -> Iterator[None]:
    """Replace the method that writes to the caches of a decoder."""
    layers = [x for x in decoder._flatten_layers() if isinstance(x, MultiHeadAttention)]
    for layer in layers:
        object.__setattr__(layer, "update_cache", update)
    try:
        yield
    finally:
        for layer in layers:
            object.__delattr__(layer, "update_cache")


def write_in_place(
    cache: dict[str, tf.Tensor], new: dict[str, tf.Tensor], start: tf.Tensor, *masks: Any
) -> dict[str, tf.Tensor]:
    """Write to a cache in place; the old value must not be read afterwards.

    Other operations would copy the whole tensor at each step.

    Args:
        cache: Tensors `(B, G, L, ...)`, `L` a multiple of `N`.
        new: Tensors `(B, G, N, ...)`.
        start: Position of the first of `N`, a multiple of `N`.
        *masks: None.
    """
    return {name: _written(cache[name], part, start, True) for name, part in new.items()}


def write(
    cache: dict[str, tf.Tensor], new: dict[str, tf.Tensor], start: tf.Tensor, *masks: Any
) -> dict[str, tf.Tensor]:
    """Return a copy of a cache with new entries, as `write_in_place`; XLA may write in place."""
    return {name: _written(cache[name], part, start, False) for name, part in new.items()}


def _written(part: tf.Tensor, new: tf.Tensor, start: tf.Tensor, in_place: bool) -> tf.Tensor:
    batch_size, num_groups, length, size = tf.unstack(tf.shape(part))
    number = tf.shape(new)[2]
    # One row for each position: the hypotheses are written together.
    rows = tf.reshape(part, tf.stack([-1, number * size]))
    room = length // number
    places = tf.range(batch_size * num_groups) * room + start // number
    updates = tf.reshape(tf.cast(new, part.dtype), tf.stack([-1, number * size]))
    if in_place:
        rows = tf.raw_ops.InplaceUpdate(x=rows, i=places, v=updates)
    else:
        rows = tf.tensor_scatter_nd_update(rows, places[:, None], updates)
    return tf.reshape(rows, tf.shape(part))
