"""SentencePiece tokenizer in the graph, built from core TensorFlow operations only."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from keras_attn.translation.special_ids import UNK_ID
from keras_attn.translation.text.characters import REPLACEMENTS
from keras_attn.translation.text.in_graph import replace_in_graph
from keras_attn.translation.tokenization import language_tokens, utf8
from keras_attn.translation.tokenization.fixed_shapes import NO_ID, encode_all, shape_for
from keras_attn.translation.tokenization.normalizer import MARK, Normalized, Normalizer
from keras_attn.translation.tokenization.tokenizer import ModelProto
from keras_attn.translation.tokenization.trie import NONE, Trie
from keras_attn.translation.tokenization.unigram import NOTHING, UNKNOWN, Unigram

_REPLACEMENT = "\ufffd".encode()
# `ModelProto.SentencePiece.Type`
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
# A text of this number of bytes has at least one piece, but for rare texts.
BYTES_A_PIECE = 16


class GraphTokenizer:
    """Tokenizer and detokenizer of a unigram model in the graph, with the ids of `Tokenizer`.

    XLA compiles the tokenizer of texts of up to about `compiled_length` pieces, if it is given.
    """

    def __init__(self, proto: bytes, compiled_length: tf.Variable | None = None):
        model = ModelProto.FromString(proto)
        _check(model)
        spec = model.trainer_spec
        vocabulary = model.pieces[: spec.vocab_size]  # pieces after these have no id
        normal = [i for i, piece in enumerate(model.pieces) if piece.type == _NORMAL]
        names = [model.pieces[i].piece for i in normal]
        self._normalizer = Normalizer(model.normalizer_spec.precompiled_charsmap)
        self._unigram = Unigram(names, [model.pieces[i].score for i in normal])
        self.variables = [*self._normalizer.variables, *self._unigram.variables]
        self._ids = np.array([i if i < len(vocabulary) else UNK_ID for i in normal], np.int32)
        self._pieces = [piece.piece.encode() for piece in vocabulary]
        self._bytes = np.array(list(map(_byte, vocabulary)), np.int32)
        # Log probability of each id in the text of its language; 0 for special ones.
        self.scores = np.array([piece.score for piece in vocabulary], np.float32)
        # Whether each id is unknown, or a byte of a character without a piece, boolean `(V,)`.
        self.is_rare = np.array([piece.type in (_BYTE, _UNKNOWN) for piece in vocabulary])
        # Text of each id, and text of each id at the beginning of a text.
        self._texts = [_text(piece, spec.unk_surface) for piece in vocabulary]
        self._first_texts = [
            text.removeprefix(b" ") if piece.type == _NORMAL else text
            for text, piece in zip(self._texts, vocabulary, strict=True)
        ]
        self._is_imported = not spec.byte_fallback
        self._language_ids: dict[str, int] = {}
        if self._is_imported:
            ids = {piece.piece: i for i, piece in enumerate(vocabulary)}
            self._language_ids = {token: ids[token] for token in language_tokens.among(ids)}
            unused = {name: i for name, i in ids.items() if vocabulary[i].type == _UNUSED}
            self._runs = _RunsOfUnknown(names, unused)
            self.variables += self._runs.variables
        rows, lengths = tf.TensorSpec([None, None], tf.uint8), tf.TensorSpec([None], tf.int32)
        self._compiled_length = compiled_length
        graph = partial(tf.function, input_signature=[rows, lengths], autograph=False)
        # Not inlined: a signature prepares this graph when it is first needed.
        self._plain = graph(self._encode_rows, experimental_attributes={"_noinline": True})
        self._compiled = graph(lambda *given: self._plain(*given), jit_compile=True)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
    def tokenize(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Piece ids of each text, int32 `(B, pieces)`."""
        if not self._is_imported:
            return encode_all(self._encode, replace_in_graph(text, REPLACEMENTS))
        token, text = language_tokens.split_in_graph(text)
        return tf.concat([self.language_ids(token), encode_all(self._encode, text)], axis=1)

    def compile(self, length: tf.Tensor) -> tf.Tensor:
        """Compile the program for texts of up to `length` pieces; returns the length in bytes."""
        num_texts, num_bytes = shape_for(BYTES_A_PIECE * length)
        rows = tf.zeros([num_texts, num_bytes], tf.uint8)
        return self._compiled(rows, tf.zeros([num_texts], tf.int32))[1]

    def language_ids(self, token: tf.Tensor) -> tf.RaggedTensor:
        """Id of each language token, int32 `(B, 0 or 1)`; none for an empty string."""
        place = _place(token, ["", *self._language_ids])
        ids = tf.gather([NO_ID, *self._language_ids.values(), UNK_ID], place)
        return tf.RaggedTensor.from_tensor(ids[:, None], padding=NO_ID)

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)], autograph=False)
    def detokenize(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Text of each row of ids; bytes that form no character become U+FFFD."""
        rows = ids.to_tensor(NO_ID)
        is_id = rows != NO_ID
        rows = tf.maximum(rows, 0)
        first = tf.where(is_id, tf.gather(tf.constant(self._first_texts), rows), b"")
        texts = tf.where(is_id, tf.gather(tf.constant(self._texts), rows), b"")
        has_text = tf.cast(first != b"", tf.int32)  # leading spaces do not count
        is_after = tf.cumsum(has_text, axis=1, exclusive=True) > 0
        values = tf.where(is_id, tf.gather(tf.constant(self._bytes), rows), utf8.NONE)
        is_broken = (values != utf8.NONE) & ~utf8.is_in_character(values)
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
        distinct, index = tf.unique(tf.reshape(pieces, [-1]))
        ids = _place(distinct, self.id_to_string(tf.range(len(self._pieces))))
        ids = tf.where(ids < len(self._pieces), ids, UNK_ID)
        return tf.reshape(tf.gather(ids, index), tf.shape(pieces))

    def _encode(self, rows: tf.Tensor, lengths: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Result of `_encode_rows`, by a compiled program if one is wanted for this length."""
        if self._compiled_length is None:
            return self._plain(rows, lengths)
        return tf.cond(
            tf.shape(rows)[1] // BYTES_A_PIECE <= self._compiled_length,
            lambda: self._compiled(rows, lengths),
            lambda: self._plain(rows, lengths),
        )

    def _encode_rows(self, rows: tf.Tensor, lengths: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Ids of the pieces that end at each position, as `fixed_shapes.Encode`."""
        is_byte = tf.range(tf.shape(rows)[1]) < lengths[:, None]
        rows = tf.where(is_byte, tf.cast(rows, tf.int32), utf8.NONE)
        normalized = self._normalizer(rows, lengths)
        ends = self._unigram(normalized.code_points, normalized.lengths)[..., None]
        if self._is_imported:
            unknown = self._runs(normalized, ends[..., 0] == UNKNOWN)
        else:
            unknown = self._byte_ids(normalized.code_points)
        known = tf.gather(tf.constant(self._ids), tf.maximum(ends - 1, 0))
        more = [[0, 0], [0, 0], [0, unknown.shape[-1] - 1]]
        known = tf.pad(known, more, constant_values=NO_ID)
        ids = tf.where(ends == NOTHING, NO_ID, tf.where(ends == UNKNOWN, unknown, known))
        return ids, tf.reduce_max(normalized.needed)

    def _byte_ids(self, code_points: tf.Tensor) -> tf.Tensor:
        """Ids of the UTF-8 bytes of each character, int32 `(B, M, 4)`."""
        is_byte = self._bytes != utf8.NONE
        ids = np.zeros(256, np.int32)
        ids[self._bytes[is_byte]] = np.flatnonzero(is_byte)
        values = utf8.encode(code_points)
        return tf.where(values == utf8.NONE, NO_ID, tf.gather(ids, tf.maximum(values, 0)))


class _RunsOfUnknown:
    """Id of each run of characters without a piece, at its end, int32 `(B, M, 1)`.

    A run is unknown, unless the other language of an imported model has a piece of this name.
    `known` are the pieces of this language, `unused` those of the other one with their ids.
    """

    def __init__(self, known: Sequence[str], unused: dict[str, int]):
        letters = set(known)
        runs = {piece: i for piece, i in unused.items() if letters.isdisjoint(piece)}
        self._ids = list(runs.values())
        self._trie = Trie(list(runs)) if runs else None
        self.variables = self._trie.variables if self._trie else []

    def __call__(self, normalized: Normalized, is_unknown: tf.Tensor) -> tf.Tensor:
        places = tf.shape(is_unknown)[1]
        following = tf.pad(is_unknown, [[0, 0], [0, 1]])[:, 1:]
        ids = tf.where(is_unknown & ~following, UNK_ID, NO_ID)
        if self._trie is None:
            return ids[..., None]
        pieces = self._trie(normalized.code_points, normalized.lengths)
        is_run = is_unknown
        for size in range(1, self._trie.longest + 1):
            is_longer = tf.pad(is_unknown, [[0, 0], [size, 0]])[:, :places]
            piece = pieces[size - 1]
            is_found = is_run & ~is_longer & (ids == UNK_ID) & (piece != NONE)
            ids = tf.where(is_found, tf.gather(self._ids, tf.maximum(piece, 0)), ids)
            is_run &= is_longer
        return ids[..., None]


def _place(texts: tf.Tensor, table: tf.Tensor) -> tf.Tensor:
    """Index of each text `(B,)` in a table, int32; the size of the table for other texts."""
    is_equal = tf.pad(texts[:, None] == table, [[0, 0], [0, 1]], constant_values=True)
    return tf.argmax(tf.cast(is_equal, tf.int8), axis=1, output_type=tf.int32)


def _check(model: Any) -> None:
    kind, normalizer = model.trainer_spec.model_type, model.normalizer_spec
    wrong = {
        f"model_type={kind}": kind != model.trainer_spec.UNIGRAM,
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
            "A tokenizer for the graph must be a unigram model with the options that "
            "`keras_attn.translation.tokenization.tokenizer.train` sets. "
            f"Received: {', '.join(found)}."
        )


def _byte(piece: Any) -> int:
    """Value of a byte piece such as "<0x41>", `utf8.NONE` for other pieces."""
    return int(piece.piece[1:-1], 16) if piece.type == _BYTE else utf8.NONE


def _text(piece: Any, of_unknown: str) -> bytes:
    if piece.type == _BYTE:
        return bytes([_byte(piece)])
    if piece.type == _CONTROL:
        return b""
    return (of_unknown if piece.type == _UNKNOWN else piece.piece.replace(chr(MARK), " ")).encode()
