"""SentencePiece tokenizer in the graph, built from core TensorFlow operations only."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.translation.special_ids import UNK_ID
from keras_attn.translation.text.characters import unify_in_graph
from keras_attn.translation.tokenization import language_tokens, utf8
from keras_attn.translation.tokenization.bpe import BytePairEncoding, MergeDropout
from keras_attn.translation.tokenization.double_array import NONE
from keras_attn.translation.tokenization.model_proto import ModelProto
from keras_attn.translation.tokenization.normalizer import MARK, Normalized, Normalizer
from keras_attn.translation.tokenization.trie import Trie
from keras_attn.translation.tokenization.unigram import NOTHING, UNKNOWN, Unigram

# XLA compiles the tokenizer for each pair of batch size and text length in bytes. To limit the
# number of compilations, inputs are padded to one of these sizes.
NUM_TEXTS = (1, 8, 32, 128)
NUM_BYTES = tuple(4**k for k in range(3, 15))
# Maximum of texts x bytes tokenized at once.
MAX_CELLS = 1 << 13

_SPACE, _REPLACEMENT = b" ", "\ufffd".encode()
# `ModelProto.SentencePiece.Type`
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_KINDS: dict[int, type[Unigram] | type[BytePairEncoding]] = {  # keys: `TrainerSpec.ModelType`
    1: Unigram,
    2: BytePairEncoding,
}
_NO_ID = -1


class _Cut(NamedTuple):
    ids: tf.Tensor  # (B, positions, 4): ids that end at each position, padded with `_NO_ID`
    needed: tf.Tensor  # (): number of positions that the longest text needs


class GraphTokenizer:
    """Tokenizer and detokenizer in the graph, with the same ids as `Tokenizer`.

    Args:
        proto: Serialized SentencePiece model, unigram or BPE, as `Tokenizer` reads it.

    Attributes:
        is_rare: Whether each id is unknown, or a byte of a character without a piece, boolean
            `(V,)`.

    Raises:
        ValueError: If the model is of another kind or has unsupported options.

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
        self._is_imported = not model.trainer_spec.byte_fallback
        bytes_ = np.flatnonzero(kinds == _BYTE)
        self._normalizer = Normalizer(model.normalizer_spec.precompiled_charsmap)
        self._model = _KINDS[model.trainer_spec.model_type](
            [pieces[i] for i in normal], [model.pieces[i].score for i in normal]
        )
        vocab_size = min(len(pieces), model.trainer_spec.vocab_size)
        self._ids = np.where(normal < vocab_size, normal, UNK_ID).astype(np.int32)
        self._runs = _runs_of_unknown(pieces, kinds) if self._is_imported else {}
        self._run_trie = Trie(list(self._runs)) if self._runs else None
        pieces, kinds = pieces[:vocab_size], kinds[:vocab_size]
        languages = language_tokens.among(pieces) if self._is_imported else []
        self._language_tokens = languages
        self._language_ids = [pieces.index(token) for token in languages]
        values = [int(pieces[i][1:-1], 16) for i in bytes_]  # "<0x41>" -> 0x41
        self.is_rare = (kinds == _BYTE) | (kinds == _UNKNOWN)
        self._byte_ids = np.zeros(256, np.int32)
        self._byte_ids[values] = bytes_
        self._bytes = np.full(len(pieces), utf8.NONE, np.int32)
        self._bytes[bytes_] = values

        texts = [piece.replace(chr(MARK), " ").encode() for piece in pieces]
        for i, value in zip(bytes_, values, strict=True):
            texts[i] = bytes([value])
        for i in np.flatnonzero(kinds == _CONTROL):
            texts[i] = b""
        for i in np.flatnonzero(kinds == _UNKNOWN):
            texts[i] = model.trainer_spec.unk_surface.encode()
        is_text = kinds == _NORMAL
        self._pieces = [piece.encode() for piece in pieces]
        # Text of each id, and text of each id at the beginning of a text.
        self._texts = texts
        self._first_texts = [
            text.removeprefix(_SPACE) if is_normal else text
            for text, is_normal in zip(texts, is_text, strict=True)
        ]
        rows, lengths = tf.TensorSpec([None, None], tf.uint8), tf.TensorSpec([None], tf.int32)
        alpha, seed = tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)
        self._cut, self._cut_sampled = (
            tf.function(
                self._cut_rows, input_signature=signature, jit_compile=True, autograph=False
            )
            for signature in ([rows, lengths], [rows, lengths, alpha, seed])
        )

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Piece ids of each text.

        Args:
            text: Strings `(B,)`.

        Returns:
            Int32 `(B, pieces)`.
        """
        if self._is_imported:
            token, text = language_tokens.split_in_graph(text)
            return tf.concat([self.language_ids(token), self._tokenize(text)], axis=1)
        return self._tokenize(unify_in_graph(text))

    def _tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        *_, is_at_once = _padded_shape(text)
        values, counts = tf.cond(
            is_at_once, lambda: self._at_once(text, self._cut), lambda: self._in_groups(text)
        )
        return tf.RaggedTensor.from_row_lengths(values, tf.cast(counts, tf.int64), validate=False)

    def language_ids(self, token: tf.Tensor) -> tf.RaggedTensor:
        """Id of each language token; none for an empty string.

        Args:
            token: Strings `(B,)`.

        Returns:
            Int32 `(B, 0 or 1)`.
        """
        names = tf.constant(["", *self._language_tokens])
        numbers = tf.constant([_NO_ID, *self._language_ids])
        is_name = token[:, None] == names
        place = tf.argmax(tf.cast(is_name, tf.int32), axis=1)
        ids = tf.where(tf.reduce_any(is_name, axis=1), tf.gather(numbers, place), UNK_ID)
        return tf.RaggedTensor.from_tensor(ids[:, None], padding=_NO_ID)

    def sample(self, text: tf.Tensor, alpha: tf.Tensor, seed: tf.Tensor) -> tf.RaggedTensor:
        """Piece ids of each text with BPE-dropout (see `Tokenizer.sample`); BPE models only.

        Args:
            text: Strings `(B,)`, at most `NUM_TEXTS[-1]`.
            alpha: Probability of skipping a merge, float32 `()`.
            seed: Random seed, int32 `()`.

        Returns:
            Int32 `(B, pieces)`.
        """
        cut = functools.partial(self._cut_sampled, alpha=alpha, seed=seed)
        values, counts = self._at_once(unify_in_graph(text), cut)
        return tf.RaggedTensor.from_row_lengths(values, tf.cast(counts, tf.int64), validate=False)

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)], autograph=False)
    def detokenize(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Text of each row of ids; bytes that form no character become U+FFFD.

        Args:
            ids: Int32 `(B, pieces)`.

        Returns:
            Strings `(B,)`.
        """
        rows = ids.to_tensor(_NO_ID)
        is_id = rows != _NO_ID
        rows = tf.maximum(rows, 0)
        first = tf.where(is_id, tf.gather(tf.constant(self._first_texts), rows), b"")
        texts = tf.where(is_id, tf.gather(tf.constant(self._texts), rows), b"")
        has_text = tf.cast(first != b"", tf.int32)  # leading spaces do not count
        is_after = tf.cumsum(has_text, axis=1, exclusive=True) > 0
        values = tf.where(is_id, tf.gather(tf.constant(self._bytes), rows), utf8.NONE)
        is_broken = (values != utf8.NONE) & ~_is_in_character(values)
        texts = tf.where(is_broken, _REPLACEMENT, tf.where(is_after, texts, first))
        joined = tf.strings.reduce_join(texts, axis=1)
        # Pieces of the other language keep a space at the beginning.
        return tf.strings.strip(joined) if self._is_imported else joined

    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32)], autograph=False)
    def id_to_string(self, ids: tf.Tensor) -> tf.Tensor:
        """Piece of each id, with U+2581 for a space."""
        return tf.gather(tf.constant(self._pieces), ids)

    def string_to_id(self, pieces: tf.Tensor) -> tf.Tensor:
        """Id of each piece, int32; the unknown id for strings that are not in the vocabulary."""
        distinct, place = tf.unique(tf.reshape(pieces, [-1]))
        is_piece = tf.equal(distinct[:, None], self.id_to_string(tf.range(len(self._pieces))))
        ids = tf.argmax(tf.cast(is_piece, tf.int8), axis=1, output_type=tf.int32)
        ids = tf.where(tf.reduce_any(is_piece, axis=1), ids, UNK_ID)
        return tf.reshape(tf.gather(ids, place), tf.shape(pieces))

    def _at_once(self, text: tf.Tensor, cut_rows: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """Concatenated ids of all texts, and the number of ids of each text."""
        num_texts, longest = tf.size(text), _longest(text)
        no_texts = tf.fill([_filled(num_texts, NUM_TEXTS) - num_texts], "")
        padded = tf.concat([text, no_texts], axis=0)

        def cut_to(num_bytes: tf.Tensor) -> _Cut:
            rows = tf.io.decode_raw(padded, tf.uint8, fixed_length=num_bytes)
            return _Cut(*cut_rows(rows, tf.strings.length(padded)))

        cut = cut_to(_filled(longest, NUM_BYTES))
        # Normalisation expands some characters to as many as 18, so the result may be longer than
        # the input.
        ids, counts = tf.cond(
            cut.needed <= tf.shape(cut.ids)[1],
            lambda: _rows(cut.ids),
            lambda: _rows(cut_to(_filled(cut.needed, NUM_BYTES)).ids),
        )
        return ids, counts[:num_texts]

    def _in_groups(self, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Result of `_at_once`, computed in groups of texts of similar length to limit memory."""
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
        if self._is_imported:
            runs = self._ids_of_runs(normalized, ends[..., 0] == UNKNOWN)
            runs = tf.pad(runs[..., None], [[0, 0], [0, 0], [0, 3]], constant_values=_NO_ID)
            ids = tf.where(ends == NOTHING, _NO_ID, tf.where(ends == UNKNOWN, runs, piece))
            return _Cut(ids, tf.reduce_max(normalized.needed))
        spelt = utf8.encode(normalized.code_points)
        byte_ids = tf.gather(tf.constant(self._byte_ids), tf.maximum(spelt, 0))
        spelt = tf.where(spelt == utf8.NONE, _NO_ID, byte_ids)
        ids = tf.where(ends == NOTHING, _NO_ID, tf.where(ends == UNKNOWN, spelt, piece))
        return _Cut(ids, tf.reduce_max(normalized.needed))

    def _ids_of_runs(self, normalized: Normalized, is_unknown: tf.Tensor) -> tf.Tensor:
        """Id of each run of characters without a piece at its end, `_NO_ID` elsewhere, `(B, M)`."""
        places = tf.shape(is_unknown)[1]
        following = tf.pad(is_unknown, [[0, 0], [0, 1]])[:, 1:]
        ids = tf.where(is_unknown & ~following, UNK_ID, _NO_ID)
        if self._run_trie is None:
            return ids

        pieces = self._run_trie(normalized.code_points, normalized.lengths)
        numbers = tf.constant(list(self._runs.values()))
        is_run = is_unknown
        for size in range(1, self._run_trie.longest + 1):
            is_longer = tf.pad(is_unknown, [[0, 0], [size, 0]])[:, :places]
            piece = pieces[size - 1]
            is_found = is_run & ~is_longer & (ids == UNK_ID) & (piece != NONE)
            ids = tf.where(is_found, tf.gather(numbers, tf.maximum(piece, 0)), ids)
            is_run &= is_longer
        return ids


def compiled_shape(texts: Sequence[str]) -> tuple[int, int] | None:
    """Batch size and length in bytes to which texts are padded; None if they are divided.

    Example:

    >>> compiled_shape(["dog"] * 5), compiled_shape(["a long text" * 50] * 128)
    ((8, 64), None)
    """
    num_texts, num_bytes, is_at_once = _padded_shape(tf.constant(texts))
    return (int(num_texts), int(num_bytes)) if is_at_once else None


def _padded_shape(text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Padded batch size, padded length in bytes, and whether all texts are tokenized at once."""
    num_texts, num_bytes = _filled(tf.size(text), NUM_TEXTS), _filled(_longest(text), NUM_BYTES)
    is_small = num_texts * num_bytes <= MAX_CELLS
    return num_texts, num_bytes, is_small & (tf.size(text) <= NUM_TEXTS[-1])


def _runs_of_unknown(pieces: list[str], kinds: np.ndarray) -> dict[str, int]:
    """Ids of the pieces that only characters without a piece of their own can spell."""
    known = {piece for piece, kind in zip(pieces, kinds, strict=True) if kind == _NORMAL}
    return {
        piece: i
        for i, (piece, kind) in enumerate(zip(pieces, kinds, strict=True))
        if kind == _UNUSED and known.isdisjoint(piece)
    }


def _check(model: Any) -> None:
    kind = model.trainer_spec.model_type
    normalizer = model.normalizer_spec
    wrong = {
        f"model_type={kind}": kind not in _KINDS,
        "treat_whitespace_as_suffix=True": model.trainer_spec.treat_whitespace_as_suffix,
        "add_dummy_prefix=False": not normalizer.add_dummy_prefix,
        "remove_extra_whitespaces=False": not normalizer.remove_extra_whitespaces,
        "escape_whitespaces=False": not normalizer.escape_whitespaces,
        "denormalizer rules": bool(model.denormalizer_spec.precompiled_charsmap),
        "user-defined pieces": any(p.type == _USER_DEFINED for p in model.pieces),
    }
    found = [name for name, is_wrong in wrong.items() if is_wrong]
    if found:
        raise ValueError(
            "A tokenizer for the graph must be a unigram or BPE model with the options that "
            "`keras_attn.translation.tokenization.tokenizer.train` sets. "
            f"Received: {', '.join(found)}."
        )


def _longest(text: tf.Tensor) -> tf.Tensor:
    """Number of bytes of the longest text; 0 for an empty batch."""
    return tf.maximum(tf.reduce_max(tf.strings.length(text)), 0)


def _filled(number: tf.Tensor, steps: tuple[int, ...]) -> tf.Tensor:
    """Smallest of `steps` that is at least `number`; the last step if there is none."""
    below = tf.cast(number[..., None] > tf.constant(steps[:-1]), tf.int32)
    return tf.gather(tf.constant(steps), tf.reduce_sum(below, axis=-1))


def _rows(ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Ids `(B, positions, 4)` without `_NO_ID`, concatenated, and the number of ids of each row."""
    is_id = ids != _NO_ID
    counts = tf.reduce_sum(tf.cast(is_id, tf.int32), axis=[1, 2])
    return tf.boolean_mask(ids, is_id), counts


def _is_in_character(rows: tf.Tensor) -> tf.Tensor:
    """Mask `(B, L)` of bytes that belong to a complete character."""
    read = utf8.characters(rows)
    begins = (read.num_bytes > 1) | ((rows >= 0) & (rows < 0x80))
    belongs = begins
    for distance in (1, 2, 3):
        reaches = begins & (read.num_bytes > distance)
        belongs |= tf.pad(reaches, [[0, 0], [distance, 0]])[:, : tf.shape(rows)[1]]
    return belongs
