"""SentencePiece's normalisation in the graph: the longest rule first, then white space."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.translation.tokenization import utf8

SPACE = 0x20
MARK = 0x2581  # what SentencePiece writes for a space


class Normalized(NamedTuple):
    """Code points `(B, L + 1)`, how many of them count, and how many there would have been."""

    code_points: tf.Tensor
    lengths: tf.Tensor
    needed: tf.Tensor


class _Rule(NamedTuple):
    """Bytes that a rule replaces, and the packed place of its replacement."""

    num_bytes: tf.Tensor
    value: tf.Tensor


class _Chunks(NamedTuple):
    """Replacement of the bytes that begin at each position: code points, 0 where nothing begins.

    `is_trimmed` where their first, a space behind a space, is left out; `before` is one more than
    the place of the chunk before that says something, 0 for none.
    """

    count: tf.Tensor
    is_trimmed: tf.Tensor
    before: tf.Tensor


class Normalizer:
    """Replaces, wherever it stands, the longest text that has a rule by what the rule says.

    Then runs of spaces become one, none is left at the end, and a `MARK` stands for each and at the
    beginning.

    Args:
        charsmap: The rules as a SentencePiece model holds them (`precompiled_charsmap`): the size
            of a trie in bytes, the trie, and the replacements, each with a NUL behind it. The trie
            is a double array of 32-bit units as the library Darts-clone writes it.

    Raises:
        ValueError: If it is not of this form.
    """

    def __init__(self, charsmap: bytes):
        size = struct.unpack("<I", charsmap[:4])[0] if len(charsmap) >= 4 else 0
        if not size or size % 4 or len(charsmap) <= 4 + size:
            raise ValueError(
                "The normalisation of a tokenizer must have rules. "
                f"Received: {len(charsmap)} bytes of them."
            )
        units = np.frombuffer(charsmap[4 : 4 + size], "<i4").copy()
        replacements = charsmap[4 + size :]
        # Where the code points of a replacement begin, by where its bytes do, and their number.
        text = replacements.decode("utf-8")
        code_points = np.array([ord(character) for character in text], np.int32)
        widths = np.array([len(character.encode()) for character in text])
        place = np.zeros(len(replacements) + 1, np.int64)
        place[np.cumsum(widths) - widths] = np.arange(len(text))
        ends = np.flatnonzero(code_points == 0)
        is_value = units < 0
        starts = place[units[is_value] & 0x7FFFFFFF]
        counts = ends[np.searchsorted(ends, starts)] - starts
        self._most = int(counts.max())
        # The sign stays: it tells them from the units of bytes.
        units[is_value] = starts * (self._most + 1) + counts - 2**31
        self._units = units
        self._code_points = code_points

    def __call__(self, rows: tf.Tensor, lengths: tf.Tensor) -> Normalized:
        """Normalises rows of UTF-8; a byte of no character becomes U+FFFD.

        Args:
            rows: Bytes as int32 `(B, L)`, `utf8_ops.NONE` behind the end.
            lengths: Bytes of each row, int32 `(B,)`.

        Returns:
            What becomes of them; if more is `needed` than `L + 1`, some of it is missing.
        """
        places = tf.shape(rows)[1]
        read = utf8.characters(rows)
        rule = self._longest_rule(rows)
        has_rule = rule.num_bytes > 0
        first = rule.value // (self._most + 1)
        count = tf.where(has_rule, rule.value % (self._most + 1), 1)
        table = tf.constant(self._code_points)
        begins = tf.where(has_rule, tf.gather(table, first), read.code_points) == SPACE
        last = tf.gather(table, tf.maximum(first + count - 1, 0))
        ends = tf.where(has_rule, last, read.code_points) == SPACE
        chunks = _walk(
            tf.where(has_rule, rule.num_bytes, read.num_bytes),
            tf.where(tf.range(places) < lengths[:, None], count, 0),
            begins,
            ends,
        )
        # Each place of the result belongs to the chunk that began last: counted up from chunk to
        # chunk, where each begins.
        slots = tf.cumsum(chunks.count, axis=1, exclusive=True) + 1
        row = tf.broadcast_to(tf.range(tf.shape(rows)[0])[:, None], tf.shape(slots))
        is_said = chunks.count > 0
        target = tf.where(is_said & (slots <= places), slots, places + 1)
        step = tf.where(is_said, tf.range(1, places + 1) - chunks.before, 0)
        steps = tf.scatter_nd(
            tf.stack([row, target], -1), step, tf.stack([tf.shape(rows)[0], places + 2])
        )
        owner = tf.maximum(tf.cumsum(steps[:, : places + 1], axis=1) - 1, 0)

        def of_owner(values: tf.Tensor) -> tf.Tensor:
            return tf.gather(values, owner, batch_dims=1)

        skipped = of_owner(tf.cast(chunks.is_trimmed, tf.int32))
        offset = tf.range(places + 1) - of_owner(slots) + skipped
        index = tf.clip_by_value(of_owner(first) + offset, 0, len(self._code_points) - 1)
        said = tf.where(of_owner(has_rule), tf.gather(table, index), of_owner(read.code_points))
        said = tf.where((said == SPACE) | (tf.range(places + 1) == 0), MARK, said)
        needed = tf.reduce_sum(chunks.count, axis=1) + 1
        is_text = (tf.range(places + 1) < needed[:, None]) & (said != MARK)
        length = tf.reduce_max(tf.where(is_text, tf.range(1, places + 2), 0), axis=1)
        return Normalized(said, length, needed)

    def _longest_rule(self, rows: tf.Tensor) -> _Rule:
        """The longest rule that fits at each byte, 0 bytes if none does."""
        units = tf.constant(self._units)
        root = _offset(int(self._units[0]))
        shape = tf.shape(rows)
        nothing = tf.zeros(shape, tf.int32)
        padded = tf.concat([rows, tf.fill(shape, utf8.NONE)], axis=1)

        def is_on_a_way(depth, node, num_bytes, value, is_alive):
            return tf.reduce_any(is_alive) & (depth < shape[1])

        def go_down(depth, node, num_bytes, value, is_alive):
            byte = tf.ensure_shape(tf.slice(padded, [0, depth], shape), rows.shape)
            node = tf.bitwise.bitwise_xor(node, tf.maximum(byte, 0))
            unit = tf.gather(units, tf.where(is_alive, node, 0))
            is_alive &= (unit >= 0) & ((unit & 0xFF) == byte)
            node = tf.where(is_alive, tf.bitwise.bitwise_xor(node, _offset(unit)), 0)
            is_end = is_alive & ((unit & 0x100) != 0)
            num_bytes = tf.where(is_end, depth + 1, num_bytes)
            value = tf.where(is_end, tf.gather(units, node) & 0x7FFFFFFF, value)
            return depth + 1, node, num_bytes, value, is_alive

        start = (0, tf.fill(shape, root), nothing, nothing, rows >= 0)
        _, _, num_bytes, value, _ = tf.while_loop(is_on_a_way, go_down, start)
        return _Rule(num_bytes, value)


def _offset(unit):
    """From a unit of Darts-clone's array to its children; bit 9 says that it is in 256s."""
    return unit // 1024 * (unit // 512 % 2 * 255 + 1)


def _walk(num_bytes: tf.Tensor, count: tf.Tensor, begins: tf.Tensor, ends: tf.Tensor) -> _Chunks:
    """From chunk to chunk, each as many bytes as it takes, to know which begin where.

    Args:
        num_bytes: Bytes of the chunk that would begin at each place `(B, L)`.
        count: Its code points.
        begins: Whether the first of them is a space.
        ends: Whether the last of them is.
    """
    by_place = [tf.transpose(values) for values in (num_bytes, count, begins, ends)]
    places, batch = tf.unstack(tf.shape(by_place[0]))
    outputs = [
        tf.TensorArray(dtype, size=places, element_shape=[None])
        for dtype in (tf.int32, tf.bool, tf.int32)
    ]

    def is_inside(place, until, before, is_after_space, outputs):
        return place < places

    def step(place, until, before, is_after_space, outputs):
        num_bytes, count, begins, ends = (values[place] for values in by_place)
        is_here = place >= until
        is_trimmed = is_here & is_after_space & begins & (count > 0)
        count = tf.where(is_here, count - tf.cast(is_trimmed, tf.int32), 0)
        written = [
            output.write(place, value)
            for output, value in zip(outputs, (count, is_trimmed, before), strict=True)
        ]
        is_said = count > 0
        return (
            place + 1,
            tf.where(is_here, place + num_bytes, until),
            tf.where(is_said, place + 1, before),
            tf.where(is_said, ends, is_after_space),
            written,
        )

    nothing = tf.zeros([batch], tf.int32)
    start = (0, nothing, nothing, tf.fill([batch], True), outputs)
    *_, written = tf.while_loop(is_inside, step, start)
    return _Chunks(*(tf.transpose(output.stack()) for output in written))
