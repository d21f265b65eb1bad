"""Tags of a text, put around the words of its translation that they belong to."""

from functools import partial

import numpy as np
import tensorflow as tf

from keras_attn.translation.decoding.coverage import Coverage
from keras_attn.translation.decoding.parallel import MAX_POSITIONS, in_groups
from keras_attn.translation.lexicon import FLOOR
from keras_attn.translation.special_ids import PAD_ID, PLACEHOLDER_IDS
from keras_attn.translation.text.in_graph import replace_in_graph, split_in_graph
from keras_attn.translation.text.placeholders import ANY_PLACEHOLDER, PLACEHOLDERS
from keras_attn.translation.tokenization.in_graph import GraphTokenizer

# A target piece counts for a segment by at most 1, and against it by at most 1; each costs a half.
_COST = 0.5
# Memory grows with the square of the pieces. Tags of a longer text are around all of it.
_MOST_PIECES = 256
_ROWS_AT_ONCE = 4
# Piece with the length of its text, and with its space: a byte stands for one.
_TEXTS = (("^<pad>$", ""), ("^<0x[0-9A-F]{2}>$", "?"), ("\u2581", " "))


class Tags:
    """Takes the tags out of masked sources, and puts them into the translations.

    A model that has hardly seen a tag puts it anywhere, and loses the words around it. So it does
    not see them. Two tags of a source have a segment between them. A tag that closes comes after
    the translation of the segment before it, any other one before the translation of the segment
    after it. All keep their order, but pairs that are apart go with their words. The translation of
    a segment is the span of target pieces `y_t` with the greatest sum of

        clip(max_{s inside} I(x_s, y_t) - max_{s outside} I(x_s, y_t), -1, 1) - 0.5

    where `I(x, y) = max(0, log P(x | y) / P(x))` is their mutual information by the lexicon, at
    least 0. Spans have whole words where the language writes spaces (`joiner`).
    """

    def __init__(
        self, source: GraphTokenizer, target: GraphTokenizer, lexicon: Coverage | None, joiner: str
    ):
        self._source, self._target, self._lexicon = source, target, lexicon
        self._blank = int(source.string_to_id(tf.constant("\u2581")))
        # Pieces that continue a word.
        self._continued = r"(?s)[\p{L}\p{N}'’].*" if joiner else "^$"
        # `tf.function`, so that the signatures of a SavedModel share these graphs.
        texts, several = (tf.TensorSpec([None] * rank, tf.string) for rank in (1, 2))
        graph = partial(tf.function, autograph=False)
        self.removed = graph(self._removed, input_signature=[texts, several])
        self.put = graph(self._put, input_signature=[texts, several, several])

    def _removed(self, masked: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        """Masked texts `(B,)` without the placeholders whose `values (B, P)` are tags."""
        is_tag = _starts_with(values, "<")

        def removed() -> tf.Tensor:
            parts = split_in_graph(masked, ANY_PLACEHOLDER)
            part, row = parts.flat_values, parts.value_rowids()
            is_placeholder = tf.equal(part[:, None], tf.constant(PLACEHOLDERS))
            is_removed = tf.reduce_any(is_placeholder & tf.gather(is_tag, row), axis=1)
            return tf.strings.reduce_join(
                parts.with_flat_values(tf.where(is_removed, "", part)), axis=1
            )

        return tf.cond(tf.reduce_any(is_tag), removed, lambda: tf.identity(masked))

    def _put(self, masked: tf.Tensor, values: tf.Tensor, translations: tf.Tensor) -> tf.Tensor:
        """Translations `(B, N)` of masked texts `(B,)` with the placeholders of their tags."""
        rows = tf.where(tf.reduce_any(_starts_with(values, "<"), axis=1))

        def put() -> tf.Tensor:
            some = tf.gather_nd(translations, rows)
            number = tf.shape(some)[1]
            given = (tf.repeat(tf.gather_nd(x, rows), number, axis=0) for x in (masked, values))
            inputs = *given, tf.reshape(some, [-1])
            positions = tf.constant(MAX_POSITIONS // _ROWS_AT_ONCE)
            found = in_groups(self._put_some, inputs, positions, tf.TensorSpec([], tf.string))
            found = tf.reshape(found, tf.shape(some))
            return tf.tensor_scatter_nd_update(translations, rows, found)

        return tf.cond(tf.size(rows) > 0, put, lambda: tf.identity(translations))

    def _put_some(self, masked: tf.Tensor, values: tf.Tensor, translations: tf.Tensor) -> tf.Tensor:
        is_tag, is_end = _starts_with(values, "<"), _starts_with(values, "</")
        translations = self.removed(translations, values)  # a sample may have any placeholder
        pieces = self._target.tokenize(translations)[:, :_MOST_PIECES]
        texts = replace_in_graph(self._target.id_to_string(pieces.to_tensor(PAD_ID)), _TEXTS)
        start, end = self._spans(self._segments(masked, is_tag), pieces, texts)
        # A segment without a translation is where those before it end.
        is_found, reached = end > 0, _largest_so_far(end)
        start, end = (tf.where(is_found, x, reached) for x in (start, end))
        after = tf.cumsum(tf.cast(is_tag, tf.int32), axis=1)  # segment after each tag
        before = tf.maximum(after - 1, 0)
        place = tf.where(
            is_end, tf.gather(end, before, batch_dims=1), tf.gather(start, after, batch_dims=1)
        )
        # Tags first; the others are empty and at the end.
        order = tf.argsort(tf.cast(~is_tag, tf.int32), axis=1, stable=True)
        is_tag, is_end, place = (tf.gather(x, order, batch_dims=1) for x in (is_tag, is_end, place))
        place = tf.where(is_tag, place, tf.shape(texts)[1])
        moved = _order_of_pairs(place, is_end, is_tag)
        order, place, is_end = (tf.gather(x, moved, batch_dims=1) for x in (order, place, is_end))
        tags = tf.where(is_tag, tf.gather(tf.constant(PLACEHOLDERS), order), "")
        return _inserted(translations, texts, tf.sort(place, axis=1), tags, is_end)

    def _segments(self, masked: tf.Tensor, is_tag: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Source pieces without tags `(B, S)`, and the number of tags before each."""
        ids = self._source.tokenize(masked)[:, :_MOST_PIECES].to_tensor(PAD_ID)
        ids = tf.pad(ids, [[0, 0], [0, 1]])
        number = ids - PLACEHOLDER_IDS[0]
        within = tf.clip_by_value(number, 0, len(PLACEHOLDER_IDS) - 1)
        is_mark = (number == within) & tf.gather(is_tag, within, batch_dims=1)
        is_blank = ids == self._blank
        ids = tf.where(is_mark | is_blank, PAD_ID, ids)
        return ids, tf.cumsum(tf.cast(is_mark, tf.int32), axis=1)

    def _spans(
        self, source: tuple[tf.Tensor, tf.Tensor], pieces: tf.RaggedTensor, texts: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Start and end of the translation of each segment, int32 `(B, segments)`; 0 without one.

        `source` is a result of `_segments`; `texts (B, L)` are those of the target pieces.
        """
        ids, segment = source
        information = self._information(ids, pieces.to_tensor(PAD_ID))[..., None]  # (B, L, S, 1)
        is_inside = (segment[..., None] == tf.range(len(PLACEHOLDERS) + 1))[:, None]
        inside, outside = (
            tf.reduce_max(tf.where(mask, information, 0.0), axis=2)
            for mask in (is_inside, ~is_inside)
        )
        gain = tf.clip_by_value(inside - outside, -1.0, 1.0) - _COST  # (B, L, segments)
        is_whole = tf.reduce_all(is_inside | (ids == PAD_ID)[:, None, :, None], axis=2)
        gain = tf.where(is_whole, 1.0, gain)
        total = tf.pad(tf.cumsum(gain, axis=1), [[0, 0], [1, 0], [0, 0]])
        is_continued = tf.strings.regex_full_match(texts[:, 1:], self._continued)
        is_continued &= tf.not_equal(texts[:, :-1], " ")
        may_cut = tf.pad(~is_continued, [[0, 0], [1, 1]], constant_values=True)
        may_cut = may_cut[:, : tf.shape(total)[1]]
        place = tf.range(tf.shape(total)[1])
        is_span = (place[:, None] < place) & may_cut[:, :, None] & may_cut[:, None]
        sums = tf.where(is_span[..., None], total[:, None] - total[:, :, None], 0.0)
        sums = tf.reshape(sums, [tf.shape(sums)[0], -1, len(PLACEHOLDERS) + 1])
        best = tf.argmax(sums, axis=1, output_type=tf.int32)
        best = tf.where(tf.reduce_max(sums, axis=1) > 0, best, 0)
        return best // tf.size(place), best % tf.size(place)

    def _information(self, ids: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Mutual information of source and target pieces, at least 0, `(B, L, S)`."""
        if self._lexicon is None:
            return tf.zeros([*tf.unstack(tf.shape(tokens)), tf.shape(ids)[1]])
        log_probs = self._lexicon.log_probs(ids, tokens[:, None])[:, 0]
        prior = tf.gather(tf.constant(self._source.scores), ids)[:, None]
        is_known = log_probs > np.log(1.5 * FLOOR)  # others have P = 0, and `FLOOR` added
        is_known &= (tokens != PAD_ID)[..., None]
        return tf.where(is_known, tf.maximum(log_probs - prior, 0.0), 0.0)


def _order_of_pairs(place: tf.Tensor, is_end: tf.Tensor, is_tag: tf.Tensor) -> tf.Tensor:
    """Order of tags `(B, P)`: that of their places if all are pairs apart, else of the source."""
    size = tf.shape(place)[1]
    are_pairs = tf.reduce_all((is_end == (tf.range(size) % 2 == 1)) | ~is_tag, axis=1)
    are_pairs &= tf.reduce_all(is_tag[:, ::2] == is_tag[:, 1::2], axis=1)
    start, end = place[:, ::2], place[:, 1::2]
    order = tf.argsort(start, axis=1, stable=True)
    start, end = (tf.gather(x, order, batch_dims=1) for x in (start, end))
    are_apart = tf.reduce_all(end[:, :-1] <= start[:, 1:], axis=1)
    moved = tf.reshape(tf.stack([2 * order, 2 * order + 1], axis=2), tf.shape(place))
    return tf.where((are_pairs & are_apart)[:, None], moved, tf.range(size))


def _inserted(
    texts: tf.Tensor, pieces: tf.Tensor, place: tf.Tensor, tags: tf.Tensor, is_end: tf.Tensor
) -> tf.Tensor:
    """Texts `(B,)` of given pieces `(B, L)` with tags `(B, P)` before the pieces at their places.

    A tag that opens comes after the space before a word.
    """
    is_first = tf.cast(_starts_with(pieces[:, :1], " "), tf.int32)  # a space that texts lack
    offset = tf.cumsum(tf.strings.length(pieces), axis=1) - is_first
    offset = tf.pad(offset, [[0, 0], [1, 0]])
    has_space = tf.pad(_starts_with(pieces, " "), [[0, 0], [0, 1]]) & (offset > 0)
    at = tf.gather(offset, place, batch_dims=1)
    at += tf.cast(~is_end & tf.gather(has_space, place, batch_dims=1), tf.int32)
    # Tags are around all of a text that has other pieces, such as unknown ones, or more.
    length = tf.strings.length(texts)[:, None]
    at = tf.where(offset[:, -1:] == length, at, tf.where(is_end, length, 0))
    at = _largest_so_far(tf.where(tags == "", length, at))
    begin, end = tf.pad(at, [[0, 0], [1, 0]]), tf.concat([at, length], axis=1)
    parts = tf.strings.substr(texts[:, None], begin, end - begin)
    tags = tf.pad(tags, [[0, 0], [0, 1]], constant_values="")
    return tf.strings.reduce_join(tf.strings.join([parts, tags]), axis=1)


def _largest_so_far(x: tf.Tensor) -> tf.Tensor:
    """Maximum of each row `(B, N)` up to each place."""
    place = tf.range(tf.shape(x)[1])
    return tf.reduce_max(tf.where(place <= place[:, None], x[:, None], 0), axis=2)


def _starts_with(texts: tf.Tensor, beginning: str) -> tf.Tensor:
    return tf.strings.regex_full_match(texts, f"(?s){beginning}.*")
