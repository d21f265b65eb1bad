"""Search for the best translations of a batch: compiled by XLA for small batches."""

from __future__ import annotations

import functools

import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.beam_search import BeamSearch, Hypotheses
from keras_attn.translation.decoding.folded import HIDDEN, FoldedTransformer, Memory
from keras_attn.translation.decoding.limits import length_limits, num_tokens
from keras_attn.translation.special_ids import PAD_ID

# A small batch is padded to one of these numbers of rows and to one of these lengths. Lengths above
# the last are padded to a multiple of the last.
ROWS = (1, 2, 4, 8)
LENGTHS = (16, 32, 64, 128)
# Maximum number of source pieces, padding included, that are encoded at once.
CELLS_AT_ONCE = 1024


class Search:
    """Beam search for a batch with the settings of `config`; a beam size of 1 is greedy search.

    Batches of at most `ROWS[-1]` rows are padded to a fixed shape and searched by a program that
    XLA compiles once for each shape: in small batches, overhead between matrix products dominates
    (benchmarks/results/decode.md). Larger batches are searched without XLA: matrix products
    dominate, and shapes change when finished rows are removed.

    Args:
        model: Trained model, folded for inference.
        config: Configuration of the model.
        num_best: Number of hypotheses `N` of each source, at most `config.beam_size`. Defaults
            to 1.

    Call arguments:
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.

    Returns:
        The `N` best hypotheses of each source.
    """

    def __init__(self, model: FoldedTransformer, config: Config, num_best: int = 1):
        search = functools.partial(best_translations, model, config=config, num_best=num_best)
        ids = [tf.TensorSpec((None, None), tf.int32)]
        # `tf.function`, so that the signatures of a SavedModel share one graph of the search.
        self._large = tf.function(search, input_signature=ids)
        self._small = tf.function(
            functools.partial(search, at_once=True), input_signature=ids, jit_compile=True
        )

    def __call__(self, source_ids: tf.Tensor) -> Hypotheses:
        num_rows = tf.shape(source_ids)[0]

        def search_padded() -> Hypotheses:
            found = self._small(_padded(source_ids))
            return Hypotheses(found.tokens[:num_rows], found.scores[:num_rows])

        return tf.cond(
            num_rows <= ROWS[-1],
            search_padded,
            lambda: self._large(source_ids),
        )


def num_positions(config: Config) -> int:
    """Maximum number of positions on either side that a search may need."""
    # The decoder reads BOS and up to `max_pieces` target pieces.
    return max(int(_length_to_pad_to(tf.constant(config.max_pieces))), config.max_pieces + 1)


def _length_to_pad_to(length: tf.Tensor) -> tf.Tensor:
    multiple = -(-length // LENGTHS[-1]) * LENGTHS[-1]
    return tf.reduce_min(tf.where(length <= LENGTHS, LENGTHS, multiple))


def _padded(source_ids: tf.Tensor) -> tf.Tensor:
    num_rows, length = tf.unstack(tf.shape(source_ids))
    # `missing` must not be negative, even for a large batch: this branch is traced although it does
    # not run, and the number of rows may be static.
    enough = tf.maximum(tf.reduce_min(tf.where(num_rows <= ROWS, ROWS, ROWS[-1])), num_rows)
    missing = [[0, enough - num_rows], [0, _length_to_pad_to(length) - length]]
    return tf.pad(source_ids, missing, constant_values=PAD_ID)


def best_translations(
    model: FoldedTransformer,
    source_ids: tf.Tensor,
    config: Config,
    num_best: int = 1,
    at_once: bool = False,
) -> Hypotheses:
    """Find the best hypotheses of each source.

    Args:
        model: Trained model, folded for inference.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        config: Configuration of the model.
        num_best: Number of hypotheses `N`, at most `config.beam_size`. Defaults to 1.
        at_once: Whether to search with static shapes, for XLA. Defaults to False.

    Returns:
        The `N` best hypotheses of each source.
    """
    lengths = num_tokens(source_ids)
    limits = length_limits(lengths, config)
    limits = tf.where(lengths > 0, limits, 1)  # stop rows of padding early
    shortest = tf.cast(config.min_length_ratio * tf.cast(lengths, tf.float32), tf.int32)
    search = BeamSearch(
        functools.partial(model.step, write=_write if at_once else _write_in_place),
        config.beam_size,
        num_best,
        # Without length penalty, greedy search stops at the first finished hypothesis.
        config.length_penalty if config.beam_size > 1 else 0.0,
        config.no_repeat_ngram,
    )
    cache = model.make_cache(tf.shape(source_ids)[0], config.beam_size)
    minimums = tf.minimum(shortest, limits)
    if not at_once:
        return search(cache, _encode_in_groups(model, source_ids), limits, minimums)
    longest = length_limits(tf.shape(source_ids)[1], config)
    return search.at_once(cache, model.encode(source_ids), limits, minimums, longest)


def _encode_in_groups(model: FoldedTransformer, source_ids: tf.Tensor) -> Memory:
    """Memory of sources in ascending order of length, encoded in groups with little padding."""
    lengths = num_tokens(source_ids)
    batch_size, longest = tf.unstack(tf.shape(source_ids))
    nothing = tf.nest.map_structure(
        lambda part: tf.TensorArray(
            part.dtype, size=0, dynamic_size=True, infer_shape=False, element_shape=part.shape
        ),
        model.memory_spec,
    )

    def is_left(done: tf.Tensor, number: tf.Tensor, memory: Memory) -> tf.Tensor:
        return done < batch_size

    def encode_some(done: tf.Tensor, number: tf.Tensor, memory: Memory):
        cells = tf.range(1, batch_size - done + 1) * lengths[done:]
        fitting = tf.reduce_sum(tf.cast(cells <= CELLS_AT_ONCE, tf.int32))
        end = done + tf.maximum(fitting, 1)
        width = tf.reduce_max(lengths[done:end])
        encoded = model.encode(source_ids[done:end, :width])
        encoded = _lengthened(encoded, longest - width)
        memory = tf.nest.map_structure(lambda rows, new: rows.write(number, new), memory, encoded)
        return end, number + 1, memory

    *_, memory = tf.while_loop(is_left, encode_some, (0, 0, nothing))
    return tf.nest.map_structure(lambda rows: rows.concat(), memory)


def _lengthened(memory: Memory, missing: tf.Tensor) -> Memory:
    """Pad the source axis of a memory by `missing` positions."""
    keys, values = (
        tuple(tf.pad(layer, [[0, 0], [0, 0], [0, missing], [0, 0]]) for layer in part)
        for part in memory[:2]
    )
    paddings = [[0, 0], [0, 0], [0, 0], [0, missing]]
    return Memory(keys, values, tf.pad(memory.hidden, paddings, constant_values=HIDDEN))


def _write_in_place(part: tf.Tensor, position: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
    """Write `new` at a position of `part (B, H, C, N)` in place.

    The old value of `part` must not be read afterwards. Other operations would copy the whole
    tensor at each step.
    """
    rows, updates, places = _as_rows(part, position, new)
    return tf.reshape(tf.raw_ops.InplaceUpdate(x=rows, i=places, v=updates), tf.shape(part))


def _write(part: tf.Tensor, position: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
    """Return a copy of `part (B, H, C, N)` with `new` at a position; XLA may write in place."""
    rows, updates, places = _as_rows(part, position, new)
    return tf.reshape(tf.tensor_scatter_nd_update(rows, places[:, None], updates), tf.shape(part))


def _as_rows(
    part: tf.Tensor, position: tf.Tensor, new: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    batch_size, num_heads, room, width = tf.unstack(tf.shape(part))
    places = tf.range(batch_size * num_heads) * room + position
    updates = tf.reshape(new, tf.stack([batch_size * num_heads, width]))
    return tf.reshape(part, tf.stack([-1, width])), updates, places
