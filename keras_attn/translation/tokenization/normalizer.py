"""SentencePiece normalisation in the graph: longest-match replacement, then white space."""

import struct
from functools import cache
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.translation.tokenization import utf8

SPACE = 0x20
# A trie whose root has no children, and one empty replacement.
_NO_RULES = struct.pack("<I", 1024) + bytes(1024) + b"\0"
MARK = 0x2581  # SentencePiece writes U+2581 for a space


class Normalized(NamedTuple):
    """Normalised texts, truncated if they need more than `L + 1` code points."""

    code_points: tf.Tensor  # int32 `(B, L + 1)`
    lengths: tf.Tensor  # number of valid code points of each text, int32 `(B,)`
    needed: tf.Tensor  # number of code points of each complete text, int32 `(B,)`


class _Tables(NamedTuple):
    """Rules as tables, and the most code points that a rule writes.

    Variables, so that all functions of an export share them; a constant is in each function.
    """

    units: tf.Variable
    code_points: tf.Variable
    root: int  # offset of the first unit
    most: int


class Normalizer:
    """Normaliser: replaces the longest match of a rule at each position, then cleans white space.

    Runs of spaces become one space, and spaces at the end are removed. Each space becomes `MARK`,
    and a `MARK` is added at the beginning.

    Rules are in the format of a SentencePiece model (`precompiled_charsmap`): size of the trie in
    bytes, trie, NUL-terminated replacements. The trie is a double array of 32-bit units in the
    format of the library Darts-clone. Empty for no rules; `ValueError` for another format.
    """

    def __init__(self, charsmap: bytes):
        self._tables = _tables(charsmap or _NO_RULES)
        self.variables = [self._tables.units, self._tables.code_points]

    def __call__(self, rows: tf.Tensor, lengths: tf.Tensor) -> Normalized:
        """Normalise rows of UTF-8; a byte that belongs to no character becomes U+FFFD.

        Bytes are int32 `(B, L)`, padded with `utf8.NONE`; `lengths` `(B,)` are their numbers.
        """
        places = tf.shape(rows)[1]
        characters, num_bytes = utf8.characters(rows)
        num_replaced, value = self._longest_rule(rows)
        has_rule = num_replaced > 0
        first = value // (self._tables.most + 1)
        count = tf.where(has_rule, value % (self._tables.most + 1), 1)
        table = self._tables.code_points.read_value()
        begins = tf.where(has_rule, tf.gather(table, first), characters) == SPACE
        last = tf.gather(table, tf.maximum(first + count - 1, 0))
        ends = tf.where(has_rule, last, characters) == SPACE
        size, is_trimmed, before = _walk(
            tf.where(has_rule, num_replaced, num_bytes),
            tf.where(tf.range(places) < lengths[:, None], count, 0),
            begins,
            ends,
            tf.reduce_max(lengths),
        )
        # Each output position belongs to the last chunk that begins at or before it. The sum of
        # `step` up to a position is 1 + the index of this chunk.
        start = tf.cumsum(size, axis=1, exclusive=True) + 1
        row = tf.broadcast_to(tf.range(tf.shape(rows)[0])[:, None], tf.shape(start))
        has_output = size > 0
        target = tf.where(has_output & (start <= places), start, places + 1)
        step = tf.where(has_output, tf.range(1, places + 1) - before, 0)
        shape = tf.stack([tf.shape(rows)[0], places + 2])
        steps = tf.scatter_nd(tf.stack([row, target], -1), step, shape)
        owner = tf.maximum(tf.cumsum(steps[:, : places + 1], axis=1) - 1, 0)

        def of_owner(values: tf.Tensor) -> tf.Tensor:
            return tf.gather(values, owner, batch_dims=1)

        skipped = of_owner(tf.cast(is_trimmed, tf.int32))
        offset = tf.range(places + 1) - of_owner(start) + skipped
        index = tf.clip_by_value(of_owner(first) + offset, 0, table.shape[0] - 1)
        output = tf.where(of_owner(has_rule), tf.gather(table, index), of_owner(characters))
        output = tf.where((output == SPACE) | (tf.range(places + 1) == 0), MARK, output)
        needed = tf.reduce_sum(size, axis=1) + 1
        is_text = (tf.range(places + 1) < needed[:, None]) & (output != MARK)
        length = tf.reduce_max(tf.where(is_text, tf.range(1, places + 2), 0), axis=1)
        return Normalized(output, length, needed)

    def _longest_rule(self, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Number of bytes that the longest rule at each byte replaces, and its packed value."""
        units = self._tables.units.read_value()
        shape = tf.shape(rows)
        nothing = tf.zeros(shape, tf.int32)
        padded = tf.concat([rows, tf.fill(shape, utf8.NONE)], axis=1)

        def any_alive(depth, node, num_bytes, value, is_alive):
            return tf.reduce_any(is_alive) & (depth < shape[1])

        def descend(depth, node, num_bytes, value, is_alive):
            byte = tf.ensure_shape(tf.slice(padded, [0, depth], shape), rows.shape)
            node = tf.bitwise.bitwise_xor(node, tf.maximum(byte, 0))
            unit = tf.gather(units, tf.where(is_alive, node, 0))
            is_alive &= (unit >= 0) & ((unit & 0xFF) == byte)
            node = tf.where(is_alive, tf.bitwise.bitwise_xor(node, _offset(unit)), 0)
            is_end = is_alive & ((unit & 0x100) != 0)
            num_bytes = tf.where(is_end, depth + 1, num_bytes)
            value = tf.where(is_end, tf.gather(units, node) & 0x7FFFFFFF, value)
            return depth + 1, node, num_bytes, value, is_alive

        start = (0, tf.fill(shape, self._tables.root), nothing, nothing, rows >= 0)
        _, _, num_bytes, value, _ = tf.while_loop(any_alive, descend, start)
        return num_bytes, value


@cache
def _tables(charsmap: bytes) -> _Tables:
    """Tables of the rules, the same ones for source and target."""
    size = struct.unpack("<I", charsmap[:4])[0] if len(charsmap) >= 4 else 0
    if not size or size % 4 or len(charsmap) <= 4 + size:
        raise ValueError(
            "The normalisation of a tokenizer must be rules in the format of SentencePiece. "
            f"Received: {len(charsmap)} bytes."
        )
    units = np.frombuffer(charsmap[4 : 4 + size], "<i4").copy()
    replacements = charsmap[4 + size :]
    # `place` maps the byte offset of a replacement to the index of its first code point.
    text = replacements.decode("utf-8")
    code_points = np.array([ord(character) for character in text], np.int32)
    widths = np.array([len(character.encode()) for character in text])
    place = np.zeros(len(replacements) + 1, np.int64)
    place[np.cumsum(widths) - widths] = np.arange(len(text))
    ends = np.flatnonzero(code_points == 0)
    is_value = units < 0
    starts = place[units[is_value] & 0x7FFFFFFF]
    counts = ends[np.searchsorted(ends, starts)] - starts
    most = int(counts.max(initial=0))
    # The sign bit is kept: it distinguishes value units from byte units.
    root = _offset(int(units[0]))
    units[is_value] = starts * (most + 1) + counts - 2**31
    units, code_points = (tf.Variable(table, trainable=False) for table in (units, code_points))
    return _Tables(units, code_points, root, most)


def _offset(unit):
    """Offset from a Darts-clone unit to its children, in multiples of 256 if bit 9 is set."""
    return unit // 1024 * (unit // 512 % 2 * 255 + 1)


def _walk(
    num_bytes: tf.Tensor, count: tf.Tensor, begins: tf.Tensor, ends: tf.Tensor, longest: tf.Tensor
) -> list[tf.Tensor]:
    """Walk through each text, chunk by chunk: a chunk is a rule match or a single character.

    For the chunk that would begin at each position, `num_bytes` and `count` are the numbers of its
    bytes and of its output code points; it begins and ends with a space or not. Returns for each
    position the number of output code points, 0 where no chunk begins; whether the first one is
    dropped, a space after a space; and 1 + the position of the chunk with output before it, or 0.
    All are `(B, L)`; the texts have up to `longest` bytes.
    """
    by_place = [tf.transpose(values) for values in (num_bytes, count, begins, ends)]
    places, batch = tf.unstack(tf.shape(by_place[0]))
    nothing = tf.zeros([batch], tf.int32)
    dtypes = (tf.int32, tf.bool, tf.int32)
    outputs = [tf.TensorArray(of, size=places, element_shape=nothing.shape) for of in dtypes]

    def step(place, until, before, is_after_space, outputs):
        num_bytes, count, begins, ends = (values[place] for values in by_place)
        is_here = place >= until
        is_trimmed = is_here & is_after_space & begins & (count > 0)
        count = tf.where(is_here, count - tf.cast(is_trimmed, tf.int32), 0)
        values = zip(outputs, (count, is_trimmed, before), strict=True)
        written = [output.write(place, value) for output, value in values]
        has_output = count > 0
        return (
            place + 1,
            tf.where(is_here, place + num_bytes, until),
            tf.where(has_output, place + 1, before),
            tf.where(has_output, ends, is_after_space),
            written,
        )

    start = (0, nothing, nothing, tf.fill([batch], True), outputs)
    # At least one step: arrays to which nothing is written have no size.
    longest = tf.maximum(longest, 1)
    *_, written = tf.while_loop(lambda place, *_: place < longest, step, start)
    return [tf.transpose(output.stack()) for output in written]
