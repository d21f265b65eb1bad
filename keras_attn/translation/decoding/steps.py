"""Memory of source sentences and single decoder steps of several hypotheses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from keras_attn.layers.decoder import Decoder
from keras_attn.layers.decoder_block import DecoderBlock
from keras_attn.layers.encoder import Encoder
from keras_attn.layers.relative_positions import RelativePosition
from keras_attn.layers.transformer import Transformer
from keras_attn.translation.special_ids import PAD_ID

# (cache, new keys and values, position of the first, masks) -> cache; see
# `write` of `MultiHeadAttention`.
Update = Callable[..., dict[str, tf.Tensor]]


class Memory(NamedTuple):
    """Source sentences and the keys and values that the decoder attends to.

    Attributes:
        source_ids: `(B, S)`.
        layers: Projected keys and values of each decoder layer, `{"key": (B, G, S, K), "value":
            (B, G, S, K)}`; for `WholePrefix` the encoder's states, `{"states": (B, 1, S, D)}`, or
            nothing if model or encoder have a `call` of their own.
    """

    source_ids: tf.Tensor
    layers: tuple[dict[str, tf.Tensor], ...]


# For each decoder layer `{"key": (B, G, C, N * K), "value": (B, G, C, N * K)}`, with room for `C`
# positions of `N` hypotheses; for `WholePrefix` the tokens, int32 `(B, 1, C, N)`.
Cache = Any


def make_steps(
    model: Transformer, beam_size: int, in_place: bool, memory: Memory | None = None
) -> CachedSteps | WholePrefix:
    """Return the fastest way to decode with a model.

    Args:
        model: Built model.
        beam_size: Number of hypotheses `N` of each sentence.
        in_place: Whether caches may be written in place.
        memory: Memory that the steps will read, of steps for another number of hypotheses. Defaults
            to None: that of these steps.
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
    is_projected = memory is None or "key" in next(iter(memory.layers), {})
    if known and is_projected and (beam_size == 1 or not by_distance):
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
        number, groups, size = self._beam_size, self._num_groups, self._head_size
        room = tf.shape(ancestors)[2]
        own = ancestors[..., None] == tf.range(number)  # (B, N, C, N)
        own = tf.reshape(own, [-1, number, room * number])
        # A loop forgets sizes. Those that are known need no operations in the layers.
        last = tf.ensure_shape(last, [None, number])
        one_slot_each = tf.stack([-1, groups, room * number, size])
        one_slot_for_all = tf.stack([-1, groups, room, number * size])
        both = [
            {
                "self": {k: tf.reshape(part, one_slot_each) for k, part in own_cache.items()},
                "memory": {
                    k: tf.ensure_shape(part, [None, groups, None, size])
                    for k, part in of_memory.items()
                },
            }
            for own_cache, of_memory in zip(cache, memory.layers, strict=True)
        ]
        logits, both = self._decoder(
            last,
            cache=both,
            start=position * number,
            positions=tf.fill([number], position),
            attention_mask=own,
            memory_mask=tf.not_equal(memory.source_ids, PAD_ID),
            training=False,
            write=self._update,
        )
        return logits, [
            {k: tf.reshape(part, one_slot_for_all) for k, part in one["self"].items()}
            for one in both
        ]


class WholePrefix:
    """Decoding that reads whole hypotheses at each step: slow, and right for any `call`.

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
        """Return the memory of sources `(B, S)`, padded with id 0."""
        model = self._model
        if type(model).call is not Transformer.call or type(model.encoder).call is not Encoder.call:
            return Memory(source_ids, ())
        states = model.encoder(source_ids, training=False)
        return Memory(source_ids, ({"states": states[:, None]},))

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
        number = self._beam_size
        batch_size, _, room = tf.unstack(tf.shape(ancestors))
        last = tf.ensure_shape(last, [None, number])
        new = {"tokens": last[:, None, :, None]}  # (B, 1, N, 1)
        slots = tf.reshape(cache, tf.stack([batch_size, 1, room * number, 1]))
        slots = self._update({"tokens": slots}, new, position * number)["tokens"]
        tokens = tf.reshape(slots, tf.stack([batch_size, 1, room, number]))
        # The token at each position of each hypothesis.
        own = tf.one_hot(ancestors, number, dtype=tf.int32)  # (B, N, C, N)
        # No more positions than tokens: a learned table has no rows for the rest of the room.
        prefixes = tf.reduce_sum(own * tokens, axis=-1)[:, :, : position + 1]
        rows = tf.reshape(prefixes, tf.stack([batch_size * number, position + 1]))
        sources = tf.repeat(memory.source_ids, number, axis=0)
        if memory.layers:
            states = tf.repeat(memory.layers[0]["states"][:, 0], number, axis=0)
            states = tf.ensure_shape(states, [None, None, self._model.encoder.num_hiddens])
            given = {"memory_mask": self._model.encoder.compute_mask(sources), "training": False}
            logits = self._model.decoder(rows, states, **given)[:, -1]
        else:
            logits = self._model((sources, rows), training=False)[:, -1]
        return tf.reshape(logits, tf.stack([batch_size, number, logits.shape[-1]])), tokens


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
    return _written(
        cache, new, start, lambda rows, i, new: tf.raw_ops.InplaceUpdate(x=rows, i=i, v=new)
    )


def write(
    cache: dict[str, tf.Tensor], new: dict[str, tf.Tensor], start: tf.Tensor, *masks: Any
) -> dict[str, tf.Tensor]:
    """Return a copy of a cache with new entries, as `write_in_place`; XLA may write in place."""
    return _written(
        cache, new, start, lambda rows, i, new: tf.tensor_scatter_nd_update(rows, i[:, None], new)
    )


def _written(
    cache: dict[str, tf.Tensor],
    new: dict[str, tf.Tensor],
    start: tf.Tensor,
    update: Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor],
) -> dict[str, tf.Tensor]:
    one = next(iter(new.values()))
    _, num_groups, number, _ = one.shape
    length = tf.shape(next(iter(cache.values())))[2]
    # One row for each position: the hypotheses are written together.
    firsts = tf.range(tf.shape(one)[0] * num_groups) * (length // number)
    places = firsts + start // number
    made = {}
    for name, part in new.items():
        size = part.shape[3]
        rows = tf.reshape(cache[name], [-1, number * size])
        part = tf.reshape(tf.cast(part, rows.dtype), [-1, number * size])
        made[name] = tf.reshape(update(rows, places, part), [-1, num_groups, length, size])
    return made
