"""Search for the best translations of a batch: compiled by XLA for single sources."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.beam_search import BeamSearch, LengthPenalty
from keras_attn.translation.decoding.beams import Hypotheses, Rows
from keras_attn.translation.decoding.constraints import (
    Constraints,
    length_limits,
    length_minimums,
    num_tokens,
    prefix_constrained,
)
from keras_attn.translation.decoding.coverage import Coverage
from keras_attn.translation.decoding.greedy_search import GreedySearch
from keras_attn.translation.decoding.parallel import MAX_POSITIONS, in_groups
from keras_attn.translation.decoding.shortlist import Shortlist
from keras_attn.translation.decoding.steps import DecoderSteps, Memory, Step
from keras_attn.translation.lexicon import Lexicon
from keras_attn.translation.special_ids import EOS_ID, PAD_ID

# A single source is padded to one of these lengths. Lengths above the last are padded to a multiple
# of the last.
LENGTHS = (16, 32, 64, 128)
# Where programs are compiled in advance, up to this many sources of up to this length are searched
# one after the other: with a beam, and without.
MOST_SINGLE, MOST_SINGLE_GREEDY = 4, 2
LONGEST_OF_SEVERAL = LENGTHS[1]
# `compiled_length` where every length is compiled on first use.
ANY_LENGTH = tf.int32.max
# A search with coverage chooses from this many times `beam_size` finished hypotheses.
KEPT_FOR_COVERAGE = 3
# Maximum number of source pieces, padding included, that are encoded at once.
MAX_ENCODED = 1024


class Search:
    """Beam search for a batch with the settings of `config`; a beam size of 1 is greedy search.

    A single source is padded to one of `LENGTHS` and searched by a program of XLA, because overhead
    between matrix products dominates (benchmarks/results/decode.md). Larger batches are searched
    without XLA, because their shapes change. So is a source longer than `compiled_length`, a
    variable: a server raises it as it compiles longer programs. Where it is set, a few sources are
    searched one after the other.

    A call returns the `num_best` best hypotheses, 1 to `config.beam_size`, of source ids with EOS
    `(B, S)`, padded with 0. With a lexicon, they are those that `Coverage` prefers; with log
    probabilities `log_priors (V,)` of the target pieces too, they have pieces of a `Shortlist`.
    `encode` is the `tf.function` that maps source ids to their memory.
    """

    def __init__(
        self,
        model: Transformer,
        config: Config,
        placeholder_ids: tuple[int, ...] = (),
        lexicon: Lexicon | None = None,
        log_priors: np.ndarray | None = None,
    ):
        self._config = config
        self._constraints = Constraints.of(config, placeholder_ids)
        self.coverage = None
        if lexicon and config.coverage_weight and config.beam_size > 1:
            self.coverage = Coverage(lexicon, config.coverage_weight)
        self.shortlist = Shortlist.of(lexicon, log_priors, config.shortlist, model.decoder)
        self.compiled_length = tf.Variable(ANY_LENGTH, trainable=False, name="compiled_length")
        self._steps = DecoderSteps(model, config.beam_size)
        self._steps_in_place = DecoderSteps(model, config.beam_size, in_place=True)
        # `tf.function`, so that the signatures of a SavedModel share one graph of each.
        graph = partial(tf.function, autograph=False)
        ids = tf.TensorSpec((None, None), tf.int32)
        given = [ids, tf.TensorSpec((), tf.int32), tf.TensorSpec((), tf.bool)]
        if self.shortlist is not None:
            given += self.shortlist.specs
        self.encode = graph(self._steps.encode, input_signature=[ids])
        # Not inlined: a signature prepares this graph when it is first needed.
        self._batch = graph(
            self._search_batch,
            input_signature=given,
            experimental_attributes={"_noinline": True},
        )
        self._single = graph(self._search_static, input_signature=given, jit_compile=True)

    @property
    def tables(self) -> list[tf.Variable]:
        """Variables of the lexicon."""
        return [x for part in (self.coverage, self.shortlist) if part for x in part.variables]

    def __call__(self, source_ids: tf.Tensor, num_best: int = 1, scored: bool = True) -> Hypotheses:
        num_rows, length = tf.unstack(tf.shape(source_ids))
        is_compiled = _length_to_pad_to(length) <= self.compiled_length
        most = MOST_SINGLE if self._config.beam_size > 1 else MOST_SINGLE_GREEDY
        are_few = (num_rows <= most) & (length <= LONGEST_OF_SEVERAL) & is_compiled
        are_few &= self.compiled_length < ANY_LENGTH  # else they would wait for the compiler
        wanted = num_best if self.coverage is None else self._config.beam_size

        def single(source_ids: tf.Tensor = source_ids) -> Hypotheses:
            padded = _padded(source_ids)
            return self._single(padded, wanted, scored, *self._choices(padded, fixed_size=True))

        def singles() -> Hypotheses:
            longest = length_limits(length, self._config) + 1

            def one(ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
                tokens, scores = single(ids[:, : num_tokens(ids)[0]])
                return _of_length(tokens, longest), scores

            outputs = tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.float32)
            return Hypotheses(*in_groups(one, (source_ids,), tf.constant(MAX_POSITIONS), outputs))

        def batch() -> Hypotheses:
            choices = self._choices(source_ids, fixed_size=False)
            return self._batch(source_ids, wanted, scored, *choices)

        found = tf.cond(
            (num_rows == 0) | (num_rows == 1) & is_compiled,
            single,
            lambda: tf.cond(are_few, singles, batch),
        )
        found = Hypotheses(found.tokens[:num_rows], found.scores[:num_rows])
        if self.coverage is not None:
            found = self.coverage.ranked(source_ids, found)
        return Hypotheses(found.tokens[:, :num_best], found.scores[:, :num_best])

    def compile(self, length: tf.Tensor) -> tf.Tensor:
        """Compile the program for single sources of one of `LENGTHS`; returns its first score."""
        source_ids = tf.fill([1, length], EOS_ID)
        choices = self._choices(source_ids, fixed_size=True)
        return self._single(source_ids, 1, False, *choices).scores[0, 0]

    def with_prefix(self, prefix: tf.Tensor, source_ids: tf.Tensor) -> Hypotheses:
        """Hypotheses of each source that begin with `prefix (B, P)`, padded with 0, best first.

        A prefix may end with EOS. A row has none if the constraints forbid the prefix.
        """
        if self.coverage is None:
            return self._search_static(source_ids, 1, True, prefix=prefix)
        found = self._search_static(source_ids, self._config.beam_size, True, prefix=prefix)
        return self.coverage.ranked(source_ids, found)

    def best(self, source_ids: tf.Tensor, *prefix: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Best tokens `(B, C)` and scores `(B,)`, with a prefix if it is given, in bounded memory.

        Only the scores of a search with a prefix have a meaning.
        """
        longest = length_limits(tf.shape(source_ids)[1], self._config) + 1

        def best(ids: tf.Tensor, *prefix: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            found = self.with_prefix(prefix[0], ids) if prefix else self(ids, scored=False)
            return _of_length(found.tokens[:, :1], longest)[:, 0], found.scores[:, 0]

        outputs = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.float32))
        return in_groups(best, (source_ids, *prefix), longest, outputs)

    def _choices(self, source_ids: tf.Tensor, fixed_size: bool) -> Sequence[tf.Tensor]:
        """Last arguments of a search: those of a shortlist, if there is one."""
        return () if self.shortlist is None else self.shortlist(source_ids, fixed_size)

    def _search_batch(
        self, source_ids: tf.Tensor, num_best: tf.Tensor, scored: tf.Tensor, *choices: tf.Tensor
    ) -> Hypotheses:
        rows = self._rows(_encode_in_groups(self.encode, source_ids), num_best, scored)
        cache = self._steps_in_place.make_cache(rows.memory)
        step, rows = self._step(self._steps_in_place, rows, *choices)
        return _of_ids(self._beam_search(step)(cache, rows), *choices)

    def _search_static(
        self,
        source_ids: tf.Tensor,
        num_best: int | tf.Tensor,
        scored: bool | tf.Tensor,
        *choices: tf.Tensor,
        prefix: tf.Tensor | None = None,
    ) -> Hypotheses:
        rows = self._rows(self.encode(source_ids), num_best, scored)
        cache = self._steps.make_cache(rows.memory)
        step, rows = self._step(self._steps, rows, *choices)
        step = step if prefix is None else prefix_constrained(step, prefix, rows.limits)
        longest = length_limits(tf.shape(source_ids)[1], self._config)
        return _of_ids(self._beam_search(step).with_static_shapes(cache, rows, longest), *choices)

    def _step(self, steps: DecoderSteps, rows: Rows, *choices: tf.Tensor) -> tuple[Step, Rows]:
        """Step of all pieces or of given `Choices`, and the rows with the memory that it needs."""
        if self.shortlist is None or not choices:
            return steps.step, rows
        ids, kernel, bias = choices
        return steps.among(ids, kernel), rows._replace(memory=(rows.memory, bias))

    def _beam_search(self, step: Step) -> BeamSearch:
        config = self._config
        if config.beam_size == 1:
            return GreedySearch(step, self._constraints)
        return BeamSearch(
            step,
            config.beam_size,
            LengthPenalty.of(config),
            self._constraints,
            config.early_stopping,
            KEPT_FOR_COVERAGE * config.beam_size if self.coverage else None,
        )

    def _rows(self, memory: Memory, num_best: int | tf.Tensor, scored: bool | tf.Tensor) -> Rows:
        lengths = num_tokens(memory.source_ids)
        limits = length_limits(lengths, self._config)
        limits = tf.where(lengths > 0, limits, 1)  # end rows of padding early
        return Rows(
            tf.range(tf.size(lengths)),
            limits,
            length_minimums(lengths, limits, self._config),
            self._constraints.placeholders_of(memory.source_ids),
            memory,
            tf.convert_to_tensor(num_best),
            tf.convert_to_tensor(scored),
        )


def num_positions(config: Config) -> int:
    """Maximum number of positions on either side that a search may need."""
    # The decoder reads BOS and up to `max_length` target pieces.
    return max(int(_length_to_pad_to(tf.constant(config.max_length))), config.max_length + 1)


def _of_ids(found: Hypotheses, ids: tf.Tensor | None = None, *_: tf.Tensor) -> Hypotheses:
    """Hypotheses of ids, of those that a search of given `Choices` found."""
    return found if ids is None else found._replace(tokens=tf.gather(ids, found.tokens))


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


def _of_length(tokens: tf.Tensor, length: tf.Tensor) -> tf.Tensor:
    """Tokens `(B, K, L)`, padded or cut to a length."""
    tokens = tokens[:, :, :length]
    missing = [[0, 0], [0, 0], [0, length - tf.shape(tokens)[2]]]
    return tf.pad(tokens, missing, constant_values=PAD_ID)


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
        fitting = tf.reduce_sum(tf.cast(cells <= MAX_ENCODED, tf.int32))
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
