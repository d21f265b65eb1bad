"""Replacement of characters and words in the graph."""

from collections.abc import Mapping

import tensorflow as tf

from keras_attn.translation.text.characters import Replacements

# Stands between the parts of a text while it is split. Removed from given text first.
SPLIT = "\x1e"


def replace_in_graph(texts: tf.Tensor, replacements: Replacements) -> tf.Tensor:
    """Replace as `characters.replace` does, in strings of any shape."""
    for pattern, replacement in replacements:
        texts = tf.strings.regex_replace(texts, pattern, replacement)
    return texts


def replace_words(texts: tf.Tensor, pattern: str, table: Mapping[str, str]) -> tf.Tensor:
    """Replace the matches of a pattern `(B,)` by their values in a table; others stay."""
    parts = split_in_graph(texts, pattern)
    return tf.strings.reduce_join(parts.with_flat_values(look_up(parts.flat_values, table)), axis=1)


def look_up(texts: tf.Tensor, table: Mapping[str, str]) -> tf.Tensor:
    """Value of each text in a table `(B,)`; texts that are not in the table stay.

    Found by binary search in hashes: a resource such as a hash table would have to be saved.
    """
    with tf.init_scope():
        hashes = _hash(tf.constant(list(table))).numpy()
    order = hashes.argsort()
    words, values = ([list(side)[i] for i in order] for side in (table.keys(), table.values()))
    place = tf.searchsorted(tf.constant(hashes[order]), _hash(texts))
    place = tf.minimum(place, len(table) - 1)
    is_word = tf.equal(tf.gather(tf.constant(words), place), texts)
    return tf.where(is_word, tf.gather(tf.constant(values), place), texts)


def _hash(texts: tf.Tensor) -> tf.Tensor:
    return tf.strings.to_hash_bucket_fast(texts, 2**62)


def split_in_graph(texts: tf.Tensor, pattern: str | tf.Tensor) -> tf.RaggedTensor:
    """Parts of each text, of which the second, the fourth and so on match the pattern."""
    texts = tf.strings.regex_replace(texts, SPLIT, " ")
    marked = tf.strings.regex_replace(texts, pattern, rf"{SPLIT}\0{SPLIT}")
    return tf.strings.split(marked, SPLIT)
