"""Tokenization of any number of texts of any length by a function of padded bytes.

XLA compiles the function for each shape of its input. So texts are tokenized in groups of a few
shapes.
"""

from collections.abc import Callable

import tensorflow as tf

NUM_BYTES = tuple(4**k for k in range(4, 15))
# Number of texts of a group, and the maximum number of bytes of each; a longer text is a group.
NUM_TEXTS, MAX_BYTES = 8, 1024
NO_ID = -1

# Function from bytes `(B, L)` and the length of each text `(B,)` to ids `(B, M, W)`, padded
# anywhere with `NO_ID`, and the number of positions `M` that the longest text needs. The ids are
# complete if `M` is at least this number.
Encode = Callable[[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]


def encode_all(encode: Encode, text: tf.Tensor) -> tf.RaggedTensor:
    """Ids of each text, int32 `(B, ids)`, encoded in groups of texts of similar length."""
    order = tf.argsort(tf.strings.length(text), stable=True)
    # Empty texts complete the last group.
    ordered = tf.concat([tf.gather(text, order), tf.fill([NUM_TEXTS], "")], axis=0)

    def encode_next(done, least, ids, counts):
        group = ordered[done : done + NUM_TEXTS]
        is_long = tf.reduce_max(tf.strings.length(group)) > MAX_BYTES
        group = group[: tf.where(is_long, 1, NUM_TEXTS)]
        lengths = tf.strings.length(group)
        least = tf.maximum(least, tf.where(is_long, MAX_BYTES + 1, 0))
        num_bytes = _padded(tf.maximum(tf.reduce_max(lengths), least))
        found, needed = encode(tf.io.decode_raw(group, tf.uint8, fixed_length=num_bytes), lengths)
        # Normalisation expands some characters to as many as 18. Then the group is encoded again.
        is_complete = needed <= tf.shape(found)[1]
        found = found[: tf.where(is_complete, tf.size(group), 0)]
        is_id = found != NO_ID
        return (
            done + tf.shape(found)[0],
            tf.where(is_complete, 0, needed),
            tf.concat([ids, tf.boolean_mask(found, is_id)], axis=0),
            tf.concat([counts, tf.reduce_sum(tf.cast(is_id, tf.int32), axis=[1, 2])], axis=0),
        )

    none, shape = tf.zeros([0], tf.int32), tf.TensorShape([None])
    *_, ids, counts = tf.while_loop(
        lambda done, *_: done < tf.size(text),
        encode_next,
        (0, 0, none, none),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([]), shape, shape),
    )
    counts = tf.cast(counts[: tf.size(text)], tf.int64)
    rows = tf.RaggedTensor.from_row_lengths(ids, counts, validate=False)
    return tf.gather(rows, tf.argsort(order))


def shape_for(num_bytes: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Number of texts, and of bytes of each, of the largest group of texts of `num_bytes`."""
    fitting = tf.reduce_sum(tf.cast(num_bytes >= tf.constant(NUM_BYTES[1:]), tf.int32))
    num_bytes = tf.gather(tf.constant(NUM_BYTES), fitting)
    return tf.where(num_bytes > MAX_BYTES, 1, NUM_TEXTS), num_bytes


def _padded(num_bytes: tf.Tensor) -> tf.Tensor:
    """Smallest of `NUM_BYTES` that is at least a number; the last if there is none."""
    below = tf.cast(num_bytes > tf.constant(NUM_BYTES[:-1]), tf.int32)
    return tf.gather(tf.constant(NUM_BYTES), tf.reduce_sum(below))
