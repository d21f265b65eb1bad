"""Segmentation of long text into sentences, so that each fits the model."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

# Marks of the end of a sentence, with what closes behind them; a full stop inside a number or a
# name ends nothing.
SENTENCE_END = r"([。！？!?]+[」』）)\"'”’]*|\.[)\"'”’]*\s|[\r\n]+)"
# Between the parts of a text; no text has it, for it is taken out before.
SEPARATOR = "\x1f"

# Japanese, Chinese and Thai are written without spaces between sentences.
_JOINERS = {"ja": "", "zh": "", "th": ""}


def joiner(language: str) -> str:
    """Separator between two sentences of a language."""
    return _JOINERS.get(language.lower()[:2], " ")


def sentences(texts: tf.Tensor, is_cut: tf.Tensor | bool = True) -> tf.RaggedTensor:
    """Strings `(B,)` cut behind the end of each sentence, `(B, sentences)`; nothing is lost.

    Args:
        texts: Strings `(B,)`.
        is_cut: Boolean, which of them are cut; the others are one sentence.

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
    """The pieces of texts in parts of at most `limit`: whole texts, else sentences, else cuts.

    Args:
        texts: Strings `(B,)`.
        tokenize: Strings to piece ids, one dimension more.
        limit: Most pieces of a part, at least 1.

    Returns:
        Piece ids `(parts, pieces)` and the text of each part, int64 `(parts,)`, rising. A text
        without pieces has no parts.
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
