"""One form of each character, before tokenization, in Python and in the graph.

The SentencePiece models normalise text by NFKC. They leave characters that no reader sees, which
come with text that is copied from web pages, PDF files and chats. The replacements of this module
are regular expressions that Python and RE2 read alike, so that training and service remove the
same characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf

# Control characters, line and paragraph separators and zero-width spaces separate words.
SEPARATORS = "[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b]"

# Soft hyphen, joiners, direction marks, word joiner, byte order mark, fillers, and variation
# selectors: those of emoji, of Mongolian and of kanji in names (ideographic variation sequences).
INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)

# Stands between the parts of a text while it is split. Removed from given text first.
SPLIT = "\x1e"

# Patterns for Python and RE2 alike, each with its replacement.
Replacements = tuple[tuple[str, str], ...]

# Windows types U+FF5E for the wave dash; NFKC would make it "~".
REPLACEMENTS: Replacements = ((SEPARATORS, " "), (INVISIBLE, ""), ("\uff5e", "\u301c"))

# Most texts are of these characters, of which none is replaced.
_USUAL = re.compile("[ -~\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5d]*")


def unify(text: str) -> str:
    """Replace characters as `REPLACEMENTS` say.

    >>> unify("co\\u00adop\\ufeff 辻\\U000e0100～")
    'coop 辻〜'
    """
    return text if _USUAL.fullmatch(text) else replace(text, REPLACEMENTS)


def replace(text: str, replacements: Replacements) -> str:
    """Replace all matches of each pattern, one pattern after the other."""
    for pattern, replacement in replacements:
        text = re.sub(pattern, replacement, text)
    return text


def replace_in_graph(texts: tf.Tensor, replacements: Replacements) -> tf.Tensor:
    """Replace as `replace` does, in strings of any shape."""
    import tensorflow as tf  # takes seconds; `replace` does not need it

    for pattern, replacement in replacements:
        texts = tf.strings.regex_replace(texts, pattern, replacement)
    return texts


def replace_words_in_graph(texts: tf.Tensor, pattern: str, table: Mapping[str, str]) -> tf.Tensor:
    """Replace the matches of a pattern `(B,)` by their values in a table; others stay."""
    import tensorflow as tf

    parts = split_in_graph(texts, pattern)
    replaced = look_up_in_graph(parts.flat_values, table)
    return tf.strings.reduce_join(parts.with_flat_values(replaced), axis=1)


def look_up_in_graph(texts: tf.Tensor, table: Mapping[str, str]) -> tf.Tensor:
    """Value of each text in a table `(B,)`; texts that are not in the table stay.

    Found by binary search in hashes: a resource such as a hash table would have to be saved.
    """
    import tensorflow as tf

    with tf.init_scope():
        hashes = _hash(tf.constant(list(table))).numpy()
    order = hashes.argsort()
    words, values = ([list(side)[i] for i in order] for side in (table.keys(), table.values()))
    place = tf.searchsorted(tf.constant(hashes[order]), _hash(texts))
    place = tf.minimum(place, len(table) - 1)
    is_word = tf.equal(tf.gather(tf.constant(words), place), texts)
    return tf.where(is_word, tf.gather(tf.constant(values), place), texts)


def _hash(texts: tf.Tensor) -> tf.Tensor:
    import tensorflow as tf

    return tf.strings.to_hash_bucket_fast(texts, 2**62)


def split_in_graph(texts: tf.Tensor, pattern: str | tf.Tensor) -> tf.RaggedTensor:
    """Parts of each text, of which the second, the fourth and so on match the pattern."""
    import tensorflow as tf

    texts = tf.strings.regex_replace(texts, SPLIT, " ")
    marked = tf.strings.regex_replace(texts, pattern, rf"{SPLIT}\0{SPLIT}")
    return tf.strings.split(marked, SPLIT)
