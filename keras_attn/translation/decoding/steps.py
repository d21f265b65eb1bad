"""Memory of source sentences and single decoder steps of several hypotheses."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from keras_attn.layers.relative_positions import RelativePosition
from keras_attn.layers.transformer import Transformer
from keras_attn.training.head import Head
from keras_attn.translation.special_ids import PAD_ID

# (last tokens (B, K) int32, position () int32, ancestors (B, K, C) int32, cache, memory) ->
# (logits (B, K, V), cache)
#
# `ancestors[b, k, c]` is the index of the hypothesis that generated position `c` of hypothesis `k`,
# or -1 after the current position; its first axis may be 1. Each tensor of the cache is
# `(B, any, C, ...)` and is not reordered when the ranks of hypotheses change. Each tensor of the
# memory is `(B, ...)`.
Step = Callable[[tf.Tensor, tf.Tensor, tf.Tensor, Any, Any], tuple[tf.Tensor, Any]]
# Keys and values of each decoder layer, `{"key": (B, any, C, any), "value": (B, any, C, any)}`,
# with room for `C` positions.
Cache = list[dict[str, tf.Tensor]]


class Memory(NamedTuple):
    """Source sentences and the keys and values that the decoder attends to."""

    source_ids: tf.Tensor  # (B, S)
    # Projections of each decoder layer, {"key": (B, G, S, H), "value": (B, G, S, H)}.
    layers: tuple[dict[str, tf.Tensor], ...]


class DecoderSteps:
    """Decoding with a cache of keys and values.

    The hypotheses of a sentence share a cache `(B, G, C, K * H)`. They are queries at one position,
    and a mask over the `C * K` slots of the cache selects the past of each. Distances between slots
    are not distances between tokens, so with a position scheme by distance, or a window, each
    hypothesis has a cache of its own: `(B, K * G, C, H)`, of which each step takes the parents'.
    With `in_place`, a step may overwrite the cache that it is given.
    """

    def __init__(self, model: Transformer, beam_size: int, in_place: bool = False):
        if type(model).call is not Transformer.call:
            raise ValueError(
                "The model must be a `Transformer` without a `call` of its own: a search calls the "
                f"encoder and the decoder. Received: model={type(model).__name__}."
            )
        self._encoder, self._decoder = model.encoder, model.decoder
        self._beam_size = beam_size
        self._in_place = in_place
        decoder = model.decoder
        self._num_groups = decoder.num_kv_heads or decoder.num_heads
        self._head_size = decoder.num_hiddens // decoder.num_heads
        position = decoder.position
        by_distance = decoder.window is not None or (
            isinstance(position, RelativePosition) and not position.takes_positions
        )
        self._is_shared = beam_size == 1 or not by_distance

    def encode(self, source_ids: tf.Tensor) -> Memory:
        """Return the memory of sources `(B, S)`, padded with id 0."""
        memory = self._encoder(source_ids, training=False)
        caches = self._decoder.make_cache(tf.shape(source_ids)[0], 0, memory)
        # Without masks: `source_ids` tell the padding, at which keys and values are finite.
        layers = [{name: one["memory"][name] for name in ("key", "value")} for one in caches]
        return Memory(source_ids, tuple(layers))

    def make_cache(self, memory: Memory) -> Cache:
        """Return an empty cache, with room for 0 positions."""
        shape = tf.stack([tf.shape(memory.source_ids)[0], *self._cache_sizes(0)])
        return tf.nest.map_structure(lambda part: tf.zeros(shape, part.dtype), list(memory.layers))

    def _cache_sizes(self, room: int | tf.Tensor) -> tuple:
        """Sizes of the cache of a sentence with room for a number of positions."""
        number, groups, size = self._beam_size, self._num_groups, self._head_size
        if self._is_shared:
            return groups, room, number * size
        return number * groups, room, size

    def step(
        self,
        last: tf.Tensor,
        position: tf.Tensor,
        ancestors: tf.Tensor,
        cache: Cache,
        memory: Memory,
    ) -> tuple[tf.Tensor, Cache]:
        """Logits of the next token of each hypothesis, and the cache with the `last` ones (`Step`).

        The cache has room for `position`, and `memory` is the result of `encode`.
        """
        number, groups, size = self._beam_size, self._num_groups, self._head_size
        room = tf.shape(ancestors)[2]
        # A loop forgets sizes. Those that are known need no operations in the layers.
        last = tf.ensure_shape(last, [None, number])
        of_sentence = tf.stack([-1, *self._cache_sizes(room)])
        if not self._is_shared:  # as a batch with one hypothesis of each sentence
            parents = ancestors[:, :, tf.maximum(position - 1, 0)]

            def of_parents(part: tf.Tensor) -> tf.Tensor:
                part = tf.reshape(part, tf.stack([-1, self._beam_size, groups, room, size]))
                part = tf.gather(part, parents, batch_dims=1)
                return tf.reshape(part, tf.stack([-1, groups, room, size]))

            cache = tf.nest.map_structure(of_parents, cache)
            memory = tf.nest.map_structure(lambda x: tf.repeat(x, self._beam_size, axis=0), memory)
            last = tf.reshape(last, [-1, 1])
            ancestors = tf.reshape(tf.where(ancestors < 0, -1, 0), tf.stack([-1, 1, room]))
            number = 1
        own = tf.reshape(ancestors[..., None] == tf.range(number), [-1, number, room * number])
        one_slot_each = tf.stack([-1, groups, room * number, size])
        mask = tf.not_equal(memory.source_ids, PAD_ID)
        both = [
            {
                "self": {k: tf.reshape(part, one_slot_each) for k, part in own_cache.items()},
                "memory": {
                    k: tf.ensure_shape(part, [None, groups, None, size])
                    for k, part in of_memory.items()
                }
                | {"mask": mask},
            }
            for own_cache, of_memory in zip(cache, memory.layers, strict=True)
        ]
        logits, both = self._decoder(
            last,
            cache=both,
            start=position * number,
            positions=tf.fill([number], position),
            attention_mask=own,
            training=False,
            write=self._write,
        )
        cache = [
            {k: tf.reshape(part, of_sentence) for k, part in one["self"].items()} for one in both
        ]
        if not self._is_shared:
            vocab_size = logits.shape[-1] or tf.shape(logits)[-1]
            logits = tf.reshape(logits, [-1, self._beam_size, vocab_size])
        return logits, cache

    def among(self, ids: tf.Tensor, kernel: tf.Tensor) -> Step:
        """Step whose tokens are places in `Choices.ids`, which alone have logits.

        The memory of the step is the result of `encode` and the bias of the choices.
        """
        head = Head.of_decoder(self._decoder)

        def to_logits(states: tf.Tensor) -> tf.Tensor:
            rows = tf.reshape(states, [-1, self._decoder.num_hiddens])
            logits = tf.matmul(rows, tf.cast(kernel, rows.dtype))
            return tf.reshape(logits, [-1, states.shape[1], tf.size(ids)])

        def step(
            last: tf.Tensor, position: tf.Tensor, ancestors: tf.Tensor, cache: Cache, memory: Any
        ) -> tuple[tf.Tensor, Cache]:
            memory, bias = memory
            with head.replaced(lambda _: to_logits):
                logits, cache = self.step(tf.gather(ids, last), position, ancestors, cache, memory)
            return tf.cast(logits, tf.float32) + bias[:, None], cache

        return step

    def _write(
        self, cache: dict[str, tf.Tensor], new: dict[str, tf.Tensor], start: tf.Tensor, *masks: Any
    ) -> dict[str, tf.Tensor]:
        """Write keys and values `(B, G, N, H)` of `N` hypotheses, as `write_cache` of the layers.

        They replace `N` slots of a cache `(B, G, C * N, H)`, the first is `start`, a multiple of
        `N`. In place, the given cache must not be read afterwards.
        """
        _, groups, number, size = new["key"].shape
        length = tf.shape(cache["key"])[2]
        # One row for each position: the hypotheses are written together.
        firsts = tf.range(tf.shape(new["key"])[0] * groups) * (length // number)
        places = firsts + start // number

        def written(old: tf.Tensor, part: tf.Tensor) -> tf.Tensor:
            rows = tf.reshape(old, [-1, number * size])
            part = tf.reshape(tf.cast(part, rows.dtype), [-1, number * size])
            if self._in_place:  # other operations copy the whole tensor
                rows = tf.raw_ops.InplaceUpdate(x=rows, i=places, v=part)
            else:
                rows = tf.tensor_scatter_nd_update(rows, places[:, None], part)
            return tf.reshape(rows, [-1, groups, length, size])

        return {name: written(cache[name], part) for name, part in new.items()}
