"""Search for the best translations of a batch: compiled by XLA for a single source."""

from __future__ import annotations

from functools import partial
from typing import Any

import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.beam_search import BeamSearch
from keras_attn.translation.decoding.beams import Hypotheses
from keras_attn.translation.decoding.limits import (
    forbidden_ids,
    length_limits,
    length_minimums,
    num_tokens,
)
from keras_attn.translation.decoding.prefix import beginning_with
from keras_attn.translation.decoding.steps import CachedSteps, Memory, WholePrefix, make_steps
from keras_attn.translation.special_ids import PAD_ID

# A single source is padded to one of these lengths. Lengths above the last are padded to a multiple
# of the last.
LENGTHS = (16, 32, 64, 128)
# Maximum number of source pieces, padding included, that are encoded at once.
CELLS_AT_ONCE = 1024


class Search:
    """Beam search for a batch with the settings of `config`; a beam size of 1 is greedy search.

    A single source is padded to one of a few lengths and searched by a program that XLA compiles
    once for each length: overhead between matrix products dominates (benchmarks/results/decode.md).
    Larger batches are searched without XLA: matrix products dominate, shapes change when finished
    rows are removed, and programs of XLA do not run side by side.

    Args:
        model: Built model.
        config: Configuration of the model.
        slot_ids: Ids that a translation may have once if its source has them (`BeamSearch`).
            Defaults to none.

    Call arguments:
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        num_best: Number of hypotheses of each source, from 1 to `config.beam_size`. Defaults to 1.
        scored: Whether the scores are needed (`BeamSearch`). Defaults to True.

    Returns:
        The `num_best` best hypotheses of each source.

    Attributes:
        encode: `tf.function` that maps source ids to their memory.
    """

    def __init__(self, model: Transformer, config: Config, slot_ids: tuple[int, ...] = ()):
        self._config, self._slot_ids = config, slot_ids
        self._steps = make_steps(model, config.beam_size, in_place=False)
        self.encode = _in_graph(self._steps)
        in_place = make_steps(model, config.beam_size, in_place=True)

        def search_batch(
            source_ids: tf.Tensor, num_best: tf.Tensor, scored: tf.Tensor
        ) -> Hypotheses:
            memory = _encode_in_groups(self.encode, source_ids)
            return _search(in_place, memory, config, num_best, scored, False, slot_ids)

        def search_single(
            source_ids: tf.Tensor, num_best: tf.Tensor, scored: tf.Tensor
        ) -> Hypotheses:
            memory = self.encode(source_ids)
            return _search(self._steps, memory, config, num_best, scored, True, slot_ids)

        given = [
            tf.TensorSpec((None, None), tf.int32),
            tf.TensorSpec((), tf.int32),
            tf.TensorSpec((), tf.bool),
        ]
        # `tf.function`, so that the signatures of a SavedModel share one graph of the search.
        graph = partial(tf.function, input_signature=given, autograph=False)
        self._batch = graph(search_batch)
        # A model of a user may do what XLA cannot compile.
        can_compile = isinstance(self._steps, CachedSteps)
        self._single = graph(search_single, jit_compile=can_compile)

    def __call__(self, source_ids: tf.Tensor, num_best: int = 1, scored: bool = True) -> Hypotheses:
        num_rows = tf.shape(source_ids)[0]
        found = tf.cond(
            num_rows <= 1,
            lambda: self._single(_padded(source_ids), num_best, scored),
            lambda: self._batch(source_ids, num_best, scored),
        )
        return Hypotheses(found.tokens[:num_rows, :num_best], found.scores[:num_rows, :num_best])

    def beginning_with(self, prefix: tf.Tensor, source_ids: tf.Tensor) -> Hypotheses:
        """Hypotheses of each source that begin with given tokens, the first the best.

        Args:
            prefix: Ids that each hypothesis begins with, EOS included where a hypothesis ends with
                it, int32 `(B, P)`, padded with id 0. Ids beyond the maximum length have no effect.
                A row with a prefix that the rules forbid has no hypotheses.
            source_ids: See `Search`.
        """
        memory = self.encode(source_ids)
        return _search(
            self._steps,
            memory,
            self._config,
            at_once=True,
            slot_ids=self._slot_ids,
            prefix=prefix,
        )


def num_positions(config: Config) -> int:
    """Maximum number of positions on either side that a search may need."""
    # The decoder reads BOS and up to `max_length` target pieces.
    return max(int(_length_to_pad_to(tf.constant(config.max_length))), config.max_length + 1)


def _length_to_pad_to(length: tf.Tensor) -> tf.Tensor:
    multiple = -(-length // LENGTHS[-1]) * LENGTHS[-1]
    return tf.reduce_min(tf.where(length <= LENGTHS, LENGTHS, multiple))


def _padded(source_ids: tf.Tensor) -> tf.Tensor:
    """At least one row, and one of the lengths that are compiled."""
    num_rows, length = tf.unstack(tf.shape(source_ids))
    # `missing` must not be negative, even for a batch: this branch is traced although it does not
    # run, and the number of rows may be static.
    missing = [[0, tf.maximum(1 - num_rows, 0)], [0, _length_to_pad_to(length) - length]]
    return tf.pad(source_ids, missing, constant_values=PAD_ID)


def best_translations(
    model: Transformer,
    source_ids: tf.Tensor,
    config: Config,
    num_best: int | tf.Tensor = 1,
    scored: bool | tf.Tensor = True,
    at_once: bool = False,
    slot_ids: tuple[int, ...] = (),
) -> Hypotheses:
    """Find the best hypotheses of each source.

    Args:
        model: Built model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        config: Configuration of the model.
        num_best: Number of hypotheses to find, from 1 to `config.beam_size`. Defaults to 1.
        scored: Whether the scores are needed (`BeamSearch`). Defaults to True.
        at_once: Whether to search with static shapes, for XLA. Defaults to False.
        slot_ids: See `Search`. Defaults to none.

    Returns:
        `config.beam_size` hypotheses of each source, of which the first `num_best` are its best.
    """
    steps = make_steps(model, config.beam_size, in_place=not at_once)
    memory = (
        steps.encode(source_ids) if at_once else _encode_in_groups(_in_graph(steps), source_ids)
    )
    return _search(steps, memory, config, num_best, scored, at_once, slot_ids)


def _search(
    steps: CachedSteps | WholePrefix,
    memory: Memory,
    config: Config,
    num_best: int | tf.Tensor = 1,
    scored: bool | tf.Tensor = True,
    at_once: bool = False,
    slot_ids: tuple[int, ...] = (),
    prefix: tf.Tensor | None = None,
) -> Hypotheses:
    """Search with encoded sources; a prefix is for `at_once` only. See `best_translations`."""
    source_ids = memory.source_ids
    lengths = num_tokens(source_ids)
    limits = length_limits(lengths, config)
    limits = tf.where(lengths > 0, limits, 1)  # end rows of padding early
    search = BeamSearch(
        steps.step if prefix is None else beginning_with(prefix, limits, steps.step),
        config.beam_size,
        # Without length penalty, greedy search stops at the first finished hypothesis.
        config.length_penalty if config.beam_size > 1 else 0.0,
        # No translation is long enough to repeat a longer n-gram.
        config.no_repeat_ngram if config.no_repeat_ngram < config.max_length else 0,
        slot_ids,
        config.length_penalty_offset,
        config.early_stopping,
        config.forced_eos,
        forbidden_ids(config),
    )
    has_slot = tf.reduce_any(
        source_ids[:, None] == tf.constant(slot_ids, tf.int32)[:, None], axis=-1
    )
    minimums = length_minimums(lengths, limits, config)
    cache = steps.make_cache(tf.shape(source_ids)[0], memory)
    if not at_once:
        return search(cache, memory, limits, minimums, has_slot, num_best, scored)
    longest = length_limits(tf.shape(source_ids)[1], config)
    return search.at_once(cache, memory, limits, minimums, longest, has_slot, num_best, scored)


def _in_graph(steps: CachedSteps | WholePrefix) -> Any:
    """Encoder of the steps as a `tf.function`, so that its callers share one graph."""
    ids = tf.TensorSpec((None, None), tf.int32)
    return tf.function(steps.encode, input_signature=[ids], autograph=False)


def _encode_in_groups(encode: Any, source_ids: tf.Tensor) -> Memory:
    """Memory of sources in ascending order of length, encoded in groups with little padding."""
    lengths = num_tokens(source_ids)
    batch_size, longest = tf.unstack(tf.shape(source_ids))
    nothing = tf.nest.map_structure(
        lambda part: tf.TensorArray(
            part.dtype, size=0, dynamic_size=True, infer_shape=False, element_shape=part.shape
        ),
        encode.get_concrete_function().structured_outputs,
    )

    def is_left(done: tf.Tensor, number: tf.Tensor, memory: Memory) -> tf.Tensor:
        return done < batch_size

    def encode_some(done: tf.Tensor, number: tf.Tensor, memory: Memory):
        cells = tf.range(1, batch_size - done + 1) * lengths[done:]
        fitting = tf.reduce_sum(tf.cast(cells <= CELLS_AT_ONCE, tf.int32))
        end = done + tf.maximum(fitting, 1)
        width = tf.reduce_max(lengths[done:end])
        encoded = _lengthened(encode(source_ids[done:end, :width]), longest - width)
        memory = tf.nest.map_structure(lambda rows, new: rows.write(number, new), memory, encoded)
        return end, number + 1, memory

    *_, memory = tf.while_loop(is_left, encode_some, (0, 0, nothing))
    return tf.nest.map_structure(lambda rows: rows.concat(), memory)


def _lengthened(memory: Memory, missing: tf.Tensor) -> Memory:
    """Pad the source axis of a memory by `missing` positions."""
    layers = tf.nest.map_structure(
        lambda part: tf.pad(part, [[0, 0], [0, 0], [0, missing], [0, 0]]), memory.layers
    )
    ids = tf.pad(memory.source_ids, [[0, 0], [0, missing]], constant_values=PAD_ID)
    return Memory(ids, layers)
