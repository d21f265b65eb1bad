"""Tokenization of any number of texts of any length by a function that XLA compiles.

XLA compiles the function for each shape of its input. To limit the number of compilations, inputs
are padded to one of a few batch sizes and lengths.
"""

from collections.abc import Callable, Sequence

import tensorflow as tf

NUM_TEXTS = (1, 8, 32, 128)
NUM_BYTES = tuple(4**k for k in range(3, 15))
# Maximum of texts x bytes tokenized at once.
MAX_CELLS = 1 << 13
NO_ID = -1

# Function from bytes `(B, L)` and the length of each text `(B,)` to ids `(B, M, W)`, padded
# anywhere with `NO_ID`, and the number of positions `M` that the longest text needs. The ids are
# complete if `M` is at least this number.
Encode = Callable[[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]


def encode_all(encode: Encode, text: tf.Tensor) -> tf.RaggedTensor:
    """Ids of each text, int32 `(B, ids)`."""
    *_, is_small = _padded_shape(text)
    ids, counts = tf.cond(
        is_small, lambda: _encode_batch(encode, text), lambda: _encode_in_batches(encode, text)
    )
    return tf.RaggedTensor.from_row_lengths(ids, tf.cast(counts, tf.int64), validate=False)


def compiled_shape(texts: Sequence[str]) -> tuple[int, int] | None:
    """Batch size and length in bytes to which texts are padded; None if they are divided.

    >>> compiled_shape(["dog"] * 5), compiled_shape(["a long text" * 50] * 128)
    ((8, 64), None)
    """
    num_texts, num_bytes, is_small = _padded_shape(tf.constant(texts))
    return (int(num_texts), int(num_bytes)) if is_small else None


def _padded_shape(text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Padded batch size, padded length in bytes, and whether all texts fit in one batch."""
    num_texts = _padded(tf.size(text), NUM_TEXTS)
    num_bytes = _padded(_longest(text), NUM_BYTES)
    is_small = num_texts * num_bytes <= MAX_CELLS
    return num_texts, num_bytes, is_small & (tf.size(text) <= NUM_TEXTS[-1])


def _encode_batch(encode: Encode, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Concatenated ids of all texts, and the number of ids of each text."""
    num_texts = tf.size(text)
    no_texts = tf.fill([_padded(num_texts, NUM_TEXTS) - num_texts], "")
    padded = tf.concat([text, no_texts], axis=0)

    def encode_padded(num_bytes: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        rows = tf.io.decode_raw(padded, tf.uint8, fixed_length=num_bytes)
        return encode(rows, tf.strings.length(padded))

    ids, needed = encode_padded(_padded(_longest(text), NUM_BYTES))
    # Normalisation expands some characters to as many as 18, so the result may be longer than the
    # input.
    ids, counts = tf.cond(
        needed <= tf.shape(ids)[1],
        lambda: _without_padding(ids),
        lambda: _without_padding(encode_padded(_padded(needed, NUM_BYTES))[0]),
    )
    return ids, counts[:num_texts]


def _encode_in_batches(encode: Encode, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Result of `_encode_batch`, computed in batches of texts of similar length."""
    order = tf.argsort(tf.strings.length(text), stable=True)
    ordered = tf.gather(text, order)
    num_texts = tf.size(text)

    def encode_next(done, ids, counts):
        batch = ordered[done : done + NUM_TEXTS[-1]]
        widths = _padded(tf.strings.length(batch), NUM_BYTES)
        sizes = _padded(tf.range(1, tf.size(batch) + 1), NUM_TEXTS)
        fitting = tf.reduce_sum(tf.cast(widths * sizes <= MAX_CELLS, tf.int32))
        next_ids, next_counts = _encode_batch(encode, batch[: tf.maximum(fitting, 1)])
        return (
            done + tf.size(next_counts),
            tf.concat([ids, next_ids], axis=0),
            tf.concat([counts, next_counts], axis=0),
        )

    none, shape = tf.zeros([0], tf.int32), tf.TensorShape([None])
    _, ids, counts = tf.while_loop(
        lambda done, *_: done < num_texts,
        encode_next,
        (0, none, none),
        shape_invariants=(tf.TensorShape([]), shape, shape),
    )
    rows = tf.RaggedTensor.from_row_lengths(ids, counts, validate=False)
    rows = tf.gather(rows, tf.argsort(order))
    return rows.values, tf.cast(rows.row_lengths(), tf.int32)


def _longest(text: tf.Tensor) -> tf.Tensor:
    """Number of bytes of the longest text; 0 for an empty batch."""
    return tf.maximum(tf.reduce_max(tf.strings.length(text)), 0)


def _padded(number: tf.Tensor, sizes: tuple[int, ...]) -> tf.Tensor:
    """Smallest of `sizes` that is at least `number`; the last size if there is none."""
    below = tf.cast(number[..., None] > tf.constant(sizes[:-1]), tf.int32)
    return tf.gather(tf.constant(sizes), tf.reduce_sum(below, axis=-1))


def _without_padding(ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Ids `(B, M, W)` without `NO_ID`, concatenated, and the number of ids of each row."""
    is_id = ids != NO_ID
    counts = tf.reduce_sum(tf.cast(is_id, tf.int32), axis=[1, 2])
    return tf.boolean_mask(ids, is_id), counts
