"""A SentencePiece tokenizer in the graph, of operations that every TensorFlow has."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.translation.tokenization import utf8
from keras_attn.translation.tokenization.bpe import BytePairEncoding, MergeDropout
from keras_attn.translation.tokenization.model_proto import ModelProto
from keras_attn.translation.tokenization.normalizer import MARK, Normalizer
from keras_attn.translation.tokenization.unigram import NOTHING, UNKNOWN, Unigram

# Texts are cut in a function that is compiled for each number of texts and of bytes, so there are
# few of either: what is asked for is filled up to the next.
NUM_TEXTS = (1, 8, 32, 128)
NUM_BYTES = tuple(4**k for k in range(3, 15))
# Texts times bytes that are cut at once.
MAX_CELLS = 1 << 13

_SPACE, _REPLACEMENT = b" ", "\ufffd".encode()
_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6  # `SentencePiece.Type` of the model's format
_KINDS: dict[int, type[Unigram] | type[BytePairEncoding]] = {  # by `TrainerSpec.ModelType`
    1: Unigram,
    2: BytePairEncoding,
}
_NO_ID = -1


class _Cut(NamedTuple):
    ids: tf.Tensor  # (B, places, 4), what ends at each place; `_NO_ID` for less than four
    needed: tf.Tensor  # places that the longest text needs


class GraphTokenizer:
    """Strings to piece ids and back, as the package sentencepiece does it, id for id.

    Args:
        proto: A SentencePiece model, unigram or BPE, with byte fallback.

    Raises:
        ValueError: If the model is of another kind.

    Example:

    >>> from keras_attn.translation.tokenization.tokenizer import train
    >>> tokenizer = train(["the cat", "the dog"], vocab_size=300, character_coverage=1.0)
    >>> graph = GraphTokenizer(tokenizer.proto)
    >>> graph.tokenize(tf.constant(["the cat"])).to_list() == tokenizer.encode(["the cat"])
    True
    >>> graph.detokenize(graph.tokenize(tf.constant(["the cat"]))).numpy()
    array([b'the cat'], dtype=object)
    """

    def __init__(self, proto: bytes):
        model = ModelProto.FromString(proto)
        _check(model)
        kinds = np.array([piece.type for piece in model.pieces])
        pieces = [piece.piece for piece in model.pieces]
        normal = np.flatnonzero(kinds == _NORMAL)
        bytes_ = np.flatnonzero(kinds == _BYTE)
        self._normalizer = Normalizer(model.normalizer_spec.precompiled_charsmap)
        self._model = _KINDS[model.trainer_spec.model_type](
            [pieces[i] for i in normal], [model.pieces[i].score for i in normal]
        )
        self._ids = normal.astype(np.int32)
        values = [int(pieces[i][1:-1], 16) for i in bytes_]  # of "<0x41>"
        self._byte_ids = np.zeros(256, np.int32)
        self._byte_ids[values] = bytes_
        self._bytes = np.full(len(pieces), utf8.NONE, np.int32)
        self._bytes[bytes_] = values

        said = [piece.replace(chr(MARK), " ").encode() for piece in pieces]
        for i, value in zip(bytes_, values, strict=True):
            said[i] = bytes([value])
        for i in np.flatnonzero(kinds == _CONTROL):
            said[i] = b""
        for i in np.flatnonzero(kinds == _UNKNOWN):
            said[i] = model.trainer_spec.unk_surface.encode()
        is_text = kinds == _NORMAL
        self._pieces = [piece.encode() for piece in pieces]
        self._said = said
        self._said_first = [
            text.removeprefix(_SPACE) if is_normal else text
            for text, is_normal in zip(said, is_text, strict=True)
        ]
        rows, lengths = tf.TensorSpec([None, None], tf.uint8), tf.TensorSpec([None], tf.int32)
        alpha, seed = tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)
        self._cut, self._cut_sampled = (
            tf.function(self._cut_rows, input_signature=signature, jit_compile=True)
            for signature in ([rows, lengths], [rows, lengths, alpha, seed])
        )

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Piece ids of each text.

        Args:
            text: Strings `(B,)`.

        Returns:
            Int32 `(B, pieces)`.
        """
        cells = _filled(tf.size(text), NUM_TEXTS) * _filled(_longest(text), NUM_BYTES)
        is_small = (tf.size(text) <= NUM_TEXTS[-1]) & (cells <= MAX_CELLS)
        values, counts = tf.cond(
            is_small, lambda: self._at_once(text, self._cut), lambda: self._in_groups(text)
        )
        return tf.RaggedTensor.from_row_lengths(values, tf.cast(counts, tf.int64), validate=False)

    def sample(self, text: tf.Tensor, alpha: tf.Tensor, seed: tf.Tensor) -> tf.RaggedTensor:
        """The same by a BPE model, each merge left out by chance (`Tokenizer.sample`).

        Args:
            text: Strings `(B,)`, at most `NUM_TEXTS[-1]`.
            alpha: Float32 `()`.
            seed: Int32 `()`.
        """
        cut = functools.partial(self._cut_sampled, alpha=alpha, seed=seed)
        values, counts = self._at_once(text, cut)
        return tf.RaggedTensor.from_row_lengths(values, tf.cast(counts, tf.int64), validate=False)

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    def detokenize(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """The text of each row of ids; bytes that are no characters become U+FFFD.

        Args:
            ids: Int32 `(B, pieces)`.

        Returns:
            Strings `(B,)`.
        """
        rows = ids.to_tensor(_NO_ID)
        is_id = rows != _NO_ID
        rows = tf.maximum(rows, 0)
        first = tf.where(is_id, tf.gather(tf.constant(self._said_first), rows), b"")
        said = tf.where(is_id, tf.gather(tf.constant(self._said), rows), b"")
        is_said = tf.cast(first != b"", tf.int32)  # leading spaces are none
        is_after = tf.cumsum(is_said, axis=1, exclusive=True) > 0
        values = tf.where(is_id, tf.gather(tf.constant(self._bytes), rows), utf8.NONE)
        is_broken = (values != utf8.NONE) & ~_is_in_character(values)
        said = tf.where(is_broken, _REPLACEMENT, tf.where(is_after, said, first))
        return tf.strings.reduce_join(said, axis=1)

    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32)])
    def id_to_string(self, ids: tf.Tensor) -> tf.Tensor:
        """The piece of each id, with U+2581 for a space."""
        return tf.gather(tf.constant(self._pieces), ids)

    def _at_once(self, text: tf.Tensor, cut_rows: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """Ids of all texts in a row, and how many each has."""
        num_texts, longest = tf.size(text), _longest(text)
        no_texts = tf.fill([_filled(num_texts, NUM_TEXTS) - num_texts], "")
        padded = tf.concat([text, no_texts], axis=0)

        def cut_to(num_bytes: tf.Tensor) -> _Cut:
            rows = tf.io.decode_raw(padded, tf.uint8, fixed_length=num_bytes)
            return _Cut(*cut_rows(rows, tf.strings.length(padded)))

        cut = cut_to(_filled(longest, NUM_BYTES))
        # Some characters become up to 18, so what comes out may need more room than what goes in.
        ids, counts = tf.cond(
            cut.needed <= tf.shape(cut.ids)[1],
            lambda: _rows(cut.ids),
            lambda: _rows(cut_to(_filled(cut.needed, NUM_BYTES)).ids),
        )
        return ids, counts[:num_texts]

    def _in_groups(self, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The same, of texts of like length at a time, so that memory holds them."""
        order = tf.argsort(tf.strings.length(text), stable=True)
        ordered = tf.gather(text, order)
        num_texts = tf.size(text)

        def is_left(done, ids, counts):
            return done < num_texts

        def cut_some(done, ids, counts):
            group = ordered[done : done + NUM_TEXTS[-1]]
            widths = _filled(tf.strings.length(group), NUM_BYTES)
            numbers = _filled(tf.range(1, tf.size(group) + 1), NUM_TEXTS)
            fitting = tf.reduce_sum(tf.cast(widths * numbers <= MAX_CELLS, tf.int32))
            some_ids, some_counts = self._at_once(group[: tf.maximum(fitting, 1)], self._cut)
            return (
                done + tf.size(some_counts),
                tf.concat([ids, some_ids], axis=0),
                tf.concat([counts, some_counts], axis=0),
            )

        nothing = tf.zeros([0], tf.int32)
        shape = tf.TensorShape([None])
        _, ids, counts = tf.while_loop(
            is_left,
            cut_some,
            (0, nothing, nothing),
            shape_invariants=(tf.TensorShape([]), shape, shape),
        )
        rows = tf.RaggedTensor.from_row_lengths(ids, counts, validate=False)
        rows = tf.gather(rows, tf.argsort(order))
        return rows.values, tf.cast(rows.row_lengths(), tf.int32)

    def _cut_rows(
        self,
        rows: tf.Tensor,
        lengths: tf.Tensor,
        alpha: tf.Tensor | None = None,
        seed: tf.Tensor | None = None,
    ) -> _Cut:
        sampling = [] if alpha is None else [MergeDropout(alpha, seed)]
        rows = tf.cast(rows, tf.int32)
        is_byte = tf.range(tf.shape(rows)[1]) < lengths[:, None]
        normalized = self._normalizer(tf.where(is_byte, rows, utf8.NONE), lengths)
        ends = self._model(normalized.code_points, normalized.lengths, *sampling)[..., None]
        piece = tf.gather(tf.constant(self._ids), tf.maximum(ends - 1, 0))
        piece = tf.pad(piece, [[0, 0], [0, 0], [0, 3]], constant_values=_NO_ID)
        spelt = utf8.encode(normalized.code_points)
        byte_ids = tf.gather(tf.constant(self._byte_ids), tf.maximum(spelt, 0))
        spelt = tf.where(spelt == utf8.NONE, _NO_ID, byte_ids)
        ids = tf.where(ends == NOTHING, _NO_ID, tf.where(ends == UNKNOWN, spelt, piece))
        return _Cut(ids, tf.reduce_max(normalized.needed))


def _check(model: Any) -> None:
    kind = model.trainer_spec.model_type
    normalizer = model.normalizer_spec
    wrong = {
        f"model_type={kind}": kind not in _KINDS,
        "byte_fallback=False": not model.trainer_spec.byte_fallback,
        "treat_whitespace_as_suffix=True": model.trainer_spec.treat_whitespace_as_suffix,
        "add_dummy_prefix=False": not normalizer.add_dummy_prefix,
        "remove_extra_whitespaces=False": not normalizer.remove_extra_whitespaces,
        "escape_whitespaces=False": not normalizer.escape_whitespaces,
        "denormalizer rules": bool(model.denormalizer_spec.precompiled_charsmap),
        "user-defined or unused pieces": any(p.type in (4, 5) for p in model.pieces),
    }
    found = [name for name, is_wrong in wrong.items() if is_wrong]
    if found:
        raise ValueError(
            "A tokenizer for the graph must be a unigram or BPE model with byte fallback, its "
            "other options as `keras_attn.translation.tokenization.tokenizer.train` sets them. "
            f"Received: {', '.join(found)}."
        )


def _longest(text: tf.Tensor) -> tf.Tensor:
    """Bytes of the longest text, 0 of none."""
    return tf.maximum(tf.reduce_max(tf.strings.length(text)), 0)


def _filled(number: tf.Tensor, steps: tuple[int, ...]) -> tf.Tensor:
    """The first of the steps that is not below the number, else the last."""
    below = tf.cast(number[..., None] > tf.constant(steps[:-1]), tf.int32)
    return tf.gather(tf.constant(steps), tf.reduce_sum(below, axis=-1))


def _rows(ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The ids `(B, places, 4)` that are some, in a row, and how many each row has."""
    is_id = ids != _NO_ID
    counts = tf.reduce_sum(tf.cast(is_id, tf.int32), axis=[1, 2])
    return tf.boolean_mask(ids, is_id), counts


def _is_in_character(rows: tf.Tensor) -> tf.Tensor:
    """Mask of the bytes `(B, L)` that belong to a complete character."""
    read = utf8.characters(rows)
    begins = (read.num_bytes > 1) | ((rows >= 0) & (rows < 0x80))
    belongs = begins
    for distance in (1, 2, 3):
        reaches = begins & (read.num_bytes > distance)
        belongs |= tf.pad(reaches, [[0, 0], [distance, 0]])[:, : tf.shape(rows)[1]]
    return belongs
