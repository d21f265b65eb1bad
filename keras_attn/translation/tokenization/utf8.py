"""UTF-8 in the graph: decoding of bytes to code points, and encoding of code points."""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

# Code point for a byte that belongs to no character.
REPLACEMENT = 0xFFFD
NONE = -1  # padding after the end of a row


class Characters(NamedTuple):
    """Code point of the character that begins at each byte, and its length in bytes."""

    code_points: tf.Tensor
    num_bytes: tf.Tensor


def characters(rows: tf.Tensor) -> Characters:
    """Decode the character that begins at each byte; `REPLACEMENT` where no character begins.

    Surrogates and overlong forms are not characters (RFC 3629, section 3).

    Args:
        rows: Bytes as int32 `(B, L)`, padded with `NONE`.

    Returns:
        Code points and lengths in bytes (1 to 4), both int32 `(B, L)`.
    """
    first, second, third, fourth = (following(rows, k) for k in range(4))
    tails = [(byte >= 0x80) & (byte < 0xC0) for byte in (second, third, fourth)]
    lows = [byte & 0x3F for byte in (second, third, fourth)]

    two = (first & 0x1F) * 64 + lows[0]
    is_two = (first >= 0xC2) & (first < 0xE0) & tails[0]

    three = ((first & 0x0F) * 64 + lows[0]) * 64 + lows[1]
    is_surrogate = (three >= 0xD800) & (three < 0xE000)
    is_three = (first >= 0xE0) & (first < 0xF0) & tails[0] & tails[1]
    is_three &= (three >= 0x800) & ~is_surrogate

    four = (((first & 0x07) * 64 + lows[0]) * 64 + lows[1]) * 64 + lows[2]
    is_four = (first >= 0xF0) & (first < 0xF5) & tails[0] & tails[1] & tails[2]
    is_four &= (four >= 0x10000) & (four <= 0x10FFFF)

    one = tf.where((first >= 0) & (first < 0x80), first, REPLACEMENT)
    code_points = tf.where(is_two, two, tf.where(is_three, three, tf.where(is_four, four, one)))
    longer = tf.cast(is_two, tf.int32) + 2 * tf.cast(is_three, tf.int32)
    return Characters(code_points, 1 + longer + 3 * tf.cast(is_four, tf.int32))


def following(rows: tf.Tensor, distance: int) -> tf.Tensor:
    """Rows shifted left by `distance`, filled with `NONE` at the end."""
    return tf.pad(rows, [[0, 0], [0, distance]], constant_values=NONE)[:, distance:]


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
    read = characters(rows)
    begins = (read.num_bytes > 1) | ((rows >= 0) & (rows < 0x80))
    belongs = begins
    for distance in (1, 2, 3):
        reaches = begins & (read.num_bytes > distance)
        belongs |= tf.pad(reaches, [[0, 0], [distance, 0]])[:, : tf.shape(rows)[1]]
    return belongs
