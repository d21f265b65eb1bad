"""Segmentation of long text into sentences that fit the maximum length of the model."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

# End of a sentence: punctuation with closing quotes or brackets after it, or line breaks. A full
# stop must be followed by white space, so numbers such as 3.5 are not split.
SENTENCE_END = r"([。！？!?]+[」』）)\"'”’]*|\.[)\"'”’]*\s|[\r\n]+)"
# Separator between the parts of a text. Removed from input texts first.
SEPARATOR = "\x1f"

# Japanese, Chinese and Thai are written without spaces between sentences.
_JOINERS = {"ja": "", "zh": "", "th": ""}


def joiner(language: str) -> str:
    """String between two sentences of a language: empty or a space."""
    return _JOINERS.get(language.lower()[:2], " ")


def sentences(texts: tf.Tensor, is_cut: tf.Tensor | bool = True) -> tf.RaggedTensor:
    """Split texts after the end of each sentence; no character is dropped.

    Args:
        texts: Strings `(B,)`.
        is_cut: Boolean `(B,)` or scalar, texts to split. Defaults to True.

    Returns:
        Strings `(B, sentences)`; one sentence for each text that is not split.

    Example:

    >>> sentences(tf.constant(["猫だ。「はい。」3.5 cm."])).to_list()[0][0].decode()
    '猫だ。'
    """
    texts = tf.strings.regex_replace(texts, SEPARATOR, " ")
    marked = tf.strings.regex_replace(texts, SENTENCE_END, rf"\1{SEPARATOR}")
    return tf.strings.split(tf.where(is_cut, marked, texts), SEPARATOR)


def parts(
    texts: tf.Tensor, tokenize: Callable[[tf.Tensor], tf.RaggedTensor], limit: int
) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """Tokenize texts and split them into parts of at most `limit` pieces.

    A text that fits is one part. A longer text is split into sentences, and a sentence of more than
    `limit` pieces is split every `limit` pieces.

    Args:
        texts: Strings `(B,)`.
        tokenize: Function from strings `(N,)` to piece ids `(N, pieces)`.
        limit: Maximum number of pieces of a part, at least 1.

    Returns:
        Piece ids `(parts, pieces)` and the index of the text of each part, int64 `(parts,)`, in
        ascending order. A text without pieces has no parts.
    """
    cut = sentences(texts, is_cut=tokenize(texts).row_lengths() > limit)
    pieces = tokenize(cut.flat_values)  # (sentences, pieces)
    lengths = pieces.row_lengths()
    counts = (lengths + limit - 1) // limit
    index = tf.ragged.range(counts)
    left = lengths[:, None] - limit * index
    chunks = tf.RaggedTensor.from_row_lengths(
        pieces.flat_values, tf.minimum(left, limit).flat_values
    )
    return chunks, tf.repeat(cut.value_rowids(), counts)
