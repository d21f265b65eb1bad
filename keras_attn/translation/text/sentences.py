"""Segmentation of text into sentences, and of sentences into parts that the model can read."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import tensorflow as tf

from keras_attn.languages import code_of, read_language
from keras_attn.translation.text.in_graph import look_up, replace_in_graph
from keras_attn.translation.text.placeholders import PLACEHOLDERS, without_marks
from keras_attn.translation.text.tables import read_pattern, read_rules, read_table

# Separates sentences while they are found. Removed from given texts first.
SEPARATOR = "\x1f"

_SPACE = read_pattern("space")
# Puts `SEPARATOR` after each sentence, label and speaker. A sentence with more tags than there are
# placeholders is split.
_SEPARATE = (
    *read_rules("separate sentences"),
    (rf"((?:[^<{SEPARATOR}]*<[^<>{SEPARATOR}]+>){{{len(PLACEHOLDERS)}}})", rf"\1{SEPARATOR}"),
)
_IN_BLOCK = rf"(?s){_SPACE}*<{read_pattern('block')}[\s>].*"
_WITH_BREAK = rf"(?s).*(?:[\r\n]|{read_pattern('end of a block')}).*"
_CLOSING = r"(?:</[^<>\s]+>)*"
# Parts of a separated sentence. Tags around all of it, and those of blocks, are not in the text.
_AFTER = f"({read_pattern('end mark')}{read_pattern('after a sentence')})$"
_PARTS = (
    f"^({read_pattern('before a sentence')}【?)([^<]*?){_AFTER}"
    f"|(?s:^({read_pattern('before a block')}【?)(.*?){_AFTER})"
)


class Sentences(NamedTuple):
    """Sentences of several texts, in their order; each field is `(N,)`."""

    text: tf.Tensor  # sentences without the space and emoji around them
    # Line breaks, emoji, tags and marks of lists around each sentence, as given.
    before: tf.Tensor
    after: tf.Tensor
    owner: tf.Tensor  # index of the text of each sentence, int64, in ascending order


def split(texts: tf.Tensor) -> Sentences:
    """Split texts at the ends of sentences, at line breaks, and after labels.

    Numbers, abbreviations, addresses and file names are not split, and text in Japanese brackets
    stays with the sentence around it.

    >>> found = split(tf.constant(["猫だ。「はい。」と言う。\\n3.5 cm."]))
    >>> [text.decode() for text in found.text.numpy()], found.after.numpy()[1]
    (['猫だ。', '「はい。」と言う。', '3.5 cm.', ''], b'\\n')
    """
    chunks = tf.strings.split(replace_in_graph(texts, _SEPARATE), SEPARATOR)
    chunk, owner = chunks.flat_values, chunks.value_rowids()
    before, text, after = (
        tf.strings.regex_replace(chunk, _PARTS, group) for group in (r"\1\4", r"\2\5", r"\3\6")
    )
    return Sentences(text, _kept(before), _kept(after), owner)


@cache
def labels(source: str, target: str) -> dict[str, str]:
    """Translations of common labels and speakers: the model reads them without what they mark."""
    codes = code_of(source), code_of(target)
    if {*codes} != {"ja", "en"}:
        return {}
    rows = [*read_table("labels.tsv"), *read_table("glossary.tsv")]
    return {row[codes[0]]: row[codes[1]] for row in reversed(rows)}


def join(
    sentences: Sentences,
    translations: tf.Tensor,
    num_texts: tf.Tensor,
    between: str,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> tf.Tensor:
    """Join `K` translations of each sentence, `(N, K)`, to those of the texts, `(num_texts, K)`.

    `between` separates two sentences without a line break between them. Some `labels` have given
    translations.
    """
    text, before, after, owner = sentences
    # The text after the last mark of a text is empty, and so is text between two line breaks.
    is_text = tf.not_equal(text, "")
    follows = is_text & ~tf.strings.regex_full_match(before, _IN_BLOCK)
    has_next = tf.concat([(owner[1:] == owner[:-1]) & follows[1:], [False]], 0)[: tf.size(text)]
    is_open = ~tf.strings.regex_full_match(after, _WITH_BREAK)
    is_label = tf.strings.regex_full_match(after, rf"(?s){_CLOSING}[:：】].*")[:, None]
    label = tf.strings.regex_replace(translations, "[.。]$", "")
    if labels:
        known = look_up(text, labels)[:, None]
        label = tf.where(known == text[:, None], label, known)
    first = tf.strings.regex_replace(label, "(?s)^([a-z]?).*", r"\1")
    rest = tf.strings.regex_replace(label, "^[a-z]", "")
    is_word = tf.strings.regex_full_match(label, "(?s)[a-z](?:[^A-Z].*)?")  # not iPhone
    capitalised = tf.strings.join([tf.strings.upper(first), rest])
    translations = tf.where(is_label, tf.where(is_word, capitalised, label), translations)
    if between:  # the mark of the language
        end_marks = (f"^({_CLOSING})[:：]{_SPACE}?", r"\1:"), (f"^】{_SPACE}?", "]")
        after = replace_in_graph(after, end_marks)
        before = tf.strings.regex_replace(before, "【$", "[")
    after = tf.strings.join([after, tf.where(is_text & has_next & is_open, between, "")])
    before, after = (
        tf.repeat(part[:, None], tf.shape(translations)[1], 1) for part in (before, after)
    )
    joined = tf.strings.join([before, translations, after])
    return tf.strings.unsorted_segment_join(joined, owner, num_texts)


def is_in_language(texts: tf.Tensor, language: str) -> tf.Tensor:
    """Whether texts hold a letter of the language, boolean `(B,)`, and are not in another one.

    Of a language without known scripts, text holds a letter or digit of any script.
    """
    row = read_language(language)

    def has(pattern: str) -> tf.Tensor:
        return tf.strings.regex_full_match(texts, rf"(?s).*(?:{pattern}).*")

    is_in_language = has(f"[{row.letters}]" if row.letters else r"[\p{L}\p{N}]")
    return is_in_language & (~has(row.foreign) | has(row.own)) if row.foreign else is_in_language


def has_words(texts: tf.Tensor) -> tf.Tensor:
    """Whether texts, or masked texts, hold a letter outside of what is copied, boolean `(B,)`."""
    texts = tf.strings.regex_replace(without_marks(texts), read_pattern("copied"), "")
    return tf.strings.regex_full_match(texts, r"(?s).*\p{L}.*")


def parts(pieces: tf.RaggedTensor, limit: int) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """Split sentences of piece ids `(N, pieces)` every `limit` pieces, which is at least 1.

    Returns piece ids `(parts, pieces)` and the index of the sentence of each part, int64
    `(parts,)`, in ascending order. A sentence without pieces has no parts.
    """
    lengths = pieces.row_lengths()
    counts = (lengths + limit - 1) // limit
    index = tf.ragged.range(counts)
    left = lengths[:, None] - limit * index
    sizes = tf.minimum(left, limit).flat_values
    chunks = tf.RaggedTensor.from_row_lengths(pieces.flat_values, sizes)
    return chunks, tf.repeat(tf.range(pieces.nrows()), counts)


def _kept(around: tf.Tensor) -> tf.Tensor:
    """Space around sentences that holds line breaks or emoji; other space is left out."""
    is_space = tf.strings.regex_full_match(around, f"{_SPACE}*")
    is_kept = ~is_space | tf.strings.regex_full_match(around, _WITH_BREAK)
    return tf.where(is_kept, around, "")
