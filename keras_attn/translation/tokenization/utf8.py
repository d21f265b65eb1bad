"""UTF-8 in the graph: decoding of bytes to code points, and encoding of code points."""

import tensorflow as tf

# Code point for a byte that belongs to no character.
REPLACEMENT = 0xFFFD
NONE = -1  # padding after the end of a row

# Characters of several bytes (RFC 3629, section 3): number of bytes, smallest first byte, and the
# smallest and the largest code point. Smaller ones would be overlong forms.
_FORMS = ((2, 0xC0, 0x80, 0x7FF), (3, 0xE0, 0x800, 0xFFFF), (4, 0xF0, 0x10000, 0x10FFFF))


def characters(rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Code point of the character that begins at each byte, and its length in bytes (1 to 4).

    Bytes are int32 `(B, L)`, padded with `NONE`; so are the results. Where no character begins, the
    code point is `REPLACEMENT`.
    """
    code_points = tf.where((rows >= 0) & (rows < 0x80), rows, REPLACEMENT)
    lengths = tf.ones_like(rows)
    bits, is_continued = rows, tf.ones_like(rows, tf.bool)
    for length, first, smallest, largest in _FORMS:
        tail = tf.pad(rows, [[0, 0], [0, length - 1]], constant_values=NONE)[:, length - 1 :]
        is_continued &= (tail >= 0x80) & (tail < 0xC0)
        bits = bits * 64 + (tail & 0x3F)
        code_point = bits - first * 64 ** (length - 1)
        is_surrogate = (code_point >= 0xD800) & (code_point < 0xE000)
        is_form = (code_point >= smallest) & (code_point <= largest) & ~is_surrogate & is_continued
        code_points = tf.where(is_form, code_point, code_points)
        lengths = tf.where(is_form, length, lengths)
    return code_points, lengths


def encode(code_points: tf.Tensor) -> tf.Tensor:
    """UTF-8 bytes of each code point, int32 `(..., 4)`, padded with `NONE`."""
    c = code_points
    none = tf.fill(tf.shape(c), NONE)
    # Continuation bytes, from the lowest six bits up, and the bits above each of them.
    tails = [0x80 | (c // 64**k) & 0x3F for k in range(3)]
    above = [c // 64**k for k in range(4)]
    forms = [
        [c, none, none, none],
        [0xC0 | above[1], tails[0], none, none],
        [0xE0 | above[2], tails[1], tails[0], none],
        [0xF0 | above[3], tails[2], tails[1], tails[0]],
    ]
    # Selected before they are stacked: XLA compiles each stack by itself.
    return tf.stack(
        [
            tf.where(c < 0x80, one, tf.where(c < 0x800, two, tf.where(c < 0x10000, three, four)))
            for one, two, three, four in zip(*forms, strict=True)
        ],
        axis=-1,
    )


def is_in_character(rows: tf.Tensor) -> tf.Tensor:
    """Whether each byte belongs to a complete character, boolean `(B, L)`."""
    _, lengths = characters(rows)
    begins = (lengths > 1) | ((rows >= 0) & (rows < 0x80))
    belongs = begins
    for distance in (1, 2, 3):
        reaches = begins & (lengths > distance)
        belongs |= tf.pad(reaches, [[0, 0], [distance, 0]])[:, : tf.shape(rows)[1]]
    return belongs
