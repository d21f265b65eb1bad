"""From source ids to the best translations: which search, on which model, compiled or not."""

from __future__ import annotations

import functools

import tensorflow as tf

from keras_attn.translation.beam import BeamSearch, Hypotheses
from keras_attn.translation.config import Config
from keras_attn.translation.decoding import length_limits, num_tokens
from keras_attn.translation.folded import FoldedTransformer

# A single source is padded to one of these lengths, a longer one to a multiple of the last.
LENGTHS = (16, 32, 64, 128)


class Search:
    """The best translations of a batch, by the beam that `config` says; one of 1 is greedy search.

    A batch is searched operation by operation: its products are large, its shapes change as rows
    are done. A single source is searched by a program that XLA compiles for its length: there it
    is what lies between the operations that takes the time.

    Args:
        model: The trained model.
        config: Of the model.
        num_best: `N`, at most `config.beam_size`. Defaults to 1.

    Call arguments:
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.

    Returns:
        `N` hypotheses of each source.
    """

    def __init__(self, model: FoldedTransformer, config: Config, num_best: int = 1):
        search = functools.partial(best_translations, model, config=config, num_best=num_best)
        ids = [tf.TensorSpec((None, None), tf.int32)]
        # Functions, so that the graph of the search is in a SavedModel once for all that use it.
        self._batch = tf.function(search, input_signature=ids)
        self._one = tf.function(
            functools.partial(search, at_once=True), input_signature=ids, jit_compile=True
        )

    def __call__(self, source_ids: tf.Tensor) -> Hypotheses:
        return tf.cond(
            tf.shape(source_ids)[0] == 1,
            lambda: self._one(_padded(source_ids)),
            lambda: self._batch(source_ids),
        )


def num_positions(config: Config) -> int:
    """Positions that a search may need on either side."""
    # Of the target, BOS stands before what may be as long as a source with its end.
    return max(int(_length_to_pad_to(tf.constant(config.max_pieces))), config.max_pieces + 1)


def _length_to_pad_to(length: tf.Tensor) -> tf.Tensor:
    multiple = -(-length // LENGTHS[-1]) * LENGTHS[-1]
    return tf.reduce_min(tf.where(length <= LENGTHS, LENGTHS, multiple))


def _padded(source_ids: tf.Tensor) -> tf.Tensor:
    length = tf.shape(source_ids)[1]
    return tf.pad(source_ids, [[0, 0], [0, _length_to_pad_to(length) - length]])


def best_translations(
    model: FoldedTransformer,
    source_ids: tf.Tensor,
    config: Config,
    num_best: int = 1,
    at_once: bool = False,
) -> Hypotheses:
    """What `Search` gives.

    Args:
        model: The trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        config: Of the model.
        num_best: `N`, at most `config.beam_size`.
        at_once: Whether no shape may change during the search, for a compiler. Defaults to False.
    """
    lengths = num_tokens(source_ids)
    limits = length_limits(lengths, config.max_pieces, config.max_length_ratio)
    shortest = tf.cast(config.min_length_ratio * tf.cast(lengths, tf.float32), tf.int32)
    search = BeamSearch(
        functools.partial(model.step, write=_write if at_once else _write_in_place),
        config.beam_size,
        num_best,
        # Without a penalty nothing better can come when the only hypothesis ends.
        config.length_penalty if config.beam_size > 1 else 0.0,
        config.no_repeat_ngram,
    )
    cache = model.make_cache(tf.shape(source_ids)[0], config.beam_size)
    begin = (cache, model.encode(source_ids), limits, tf.minimum(shortest, limits))
    if not at_once:
        return search(*begin)
    longest = length_limits(tf.shape(source_ids)[1], config.max_pieces, config.max_length_ratio)
    return search.at_once(*begin, longest)


def _write_in_place(part: tf.Tensor, position: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
    """`part (B, H, C, N)` with `new` at a position; the memory is that of `part`.

    Nobody else may read `part` any more. Other operations copy all of it, at every step.
    """
    rows, updates, places = _as_rows(part, position, new)
    return tf.reshape(tf.raw_ops.InplaceUpdate(x=rows, i=places, v=updates), tf.shape(part))


def _write(part: tf.Tensor, position: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
    """The same in another memory, or wherever a compiler finds best."""
    rows, updates, places = _as_rows(part, position, new)
    return tf.reshape(tf.tensor_scatter_nd_update(rows, places[:, None], updates), tf.shape(part))


def _as_rows(
    part: tf.Tensor, position: tf.Tensor, new: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    batch_size, num_heads, room, width = tf.unstack(tf.shape(part))
    places = tf.range(batch_size * num_heads) * room + position
    updates = tf.reshape(new, tf.stack([batch_size * num_heads, width]))
    return tf.reshape(part, tf.stack([-1, width])), updates, places
