"""Spans of text that a translation copies: addresses, tags, numbers, dates, given terms.

A span becomes a slot, one character that the model learned to carry to its place. After the search,
the span, or the translation given for it, takes the place of the slot. So a model that has seen
little text does not misspell an address and drops no digit of a number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from keras_attn.languages import read_language
from keras_attn.translation.text import dates, numbers

if TYPE_CHECKING:
    import tensorflow as tf

# Characters for private use; each is a piece of its own in every tokenizer.
SLOTS = tuple(chr(0xE000 + i) for i in range(8))
_SLOT = f"[{SLOTS[0]}-{SLOTS[-1]}]"

EMOJI = (
    "[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
    "[\u200d\ufe0f\u2600-\u27bf\U0001f000-\U0001faff\U000e0020-\U000e007f]*"
)

# Regular expression of the spans, for Python and RE2 alike.
COPIED = "|".join(
    (
        r"(?:https?://|www\.)[!-~]*[0-9A-Za-z/#=_-]",  # web address
        r"[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)+",  # e-mail address
        r"[@#][0-9A-Za-z_]+",  # mention, hashtag
        r"\{\{[^{}\r\n]{1,60}\}\}|\$?\{[^{}\r\n]{0,60}\}",  # {{name}}, ${name}, {name}
        r"%(?:\([0-9A-Za-z_]+\)|[0-9]+\$)?[0-9.]*[sdifx@]",  # %s, %(name)s, %1$d
        r"</?[A-Za-z][^<>\r\n]{0,200}>|&[A-Za-z]{2,8};|&#[0-9]{1,7};",  # tag, character entity
        r"`[^`\r\n]{1,200}`",  # code
        r"(?:[A-Za-z]:)?(?:[\\/][A-Za-z_.~][0-9A-Za-z_.~-]*){2,}",  # path
        r"[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*\.[A-Za-z][0-9A-Za-z]{1,4}",  # file, domain
        "[\ue000-\uf8ff]",  # characters for private use, which no model knows
        EMOJI,
    )
)

_LEFT_IN_TEXT = f"{dates.NO_DATE}|{numbers.LEFT_IN_TEXT}"

# Separates spans from the text around them while they are found. Removed from given text first.
_MARK = "\x1e"
_COMPILED = re.compile(COPIED)


def spans(text: str) -> list[str]:
    """Spans of a text that a translation copies, in their order.

    Example:

    >>> spans("{name}さん、https://example.com/a を見てください。")
    ['{name}', 'https://example.com/a']
    """
    return _COMPILED.findall(text)


def has_dates(target: str) -> bool:
    """Whether a date is one span: months have names, and the clock has a.m. and p.m."""
    return read_language(target).numbers == "english"


def pattern(target: str, names: str = "") -> str:
    """Regular expression of spans, and of text that is found first so that it is no span.

    Args:
        target: Language code of the translation.
        names: Pattern of spans that are found last. Defaults to none.
    """
    of_dates = (dates.NO_DATE, dates.DATE) if has_dates(target) else ()
    parts = (COPIED, *of_dates, numbers.IN_WORDS, numbers.NUMBER, names)
    return "|".join(filter(None, parts))


def protect(
    texts: tf.Tensor,
    target: str,
    terms: tf.Tensor | None = None,
    translations: tf.Tensor | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Put slots in the place of the first spans of each text, as many as there are `SLOTS`.

    Args:
        texts: Strings `(B,)`.
        target: Language code of the translation. It decides how numbers are written; English
            numbers get commas, but years do not, and dates are written as in "October 28".
        terms: Terms with a given translation, strings `(G,)`. A longer term is found before a
            shorter one, and before other spans. Defaults to none.
        translations: Translations of `terms`, strings `(G,)`.

    Returns:
        Texts with slots, strings `(B,)`, and what takes the place of each slot, strings
        `(B, slots)`, empty for slots that a text does not have.
    """
    import tensorflow as tf

    searched = tf.constant(pattern(target))
    if terms is not None:
        longest_first = tf.argsort(tf.strings.length(terms), direction="DESCENDING", stable=True)
        quoted = tf.strings.join([_quoted(tf.gather(terms, longest_first)), "|"])
        quoted = tf.where(tf.equal(quoted, "|"), "", quoted)  # an empty term is found nowhere
        searched = tf.strings.join([tf.strings.reduce_join(quoted), searched])
    texts = numbers.half_width(tf.strings.regex_replace(texts, _MARK, " "))
    pieces = tf.strings.split(
        tf.strings.regex_replace(texts, searched, rf"{_MARK}\0{_MARK}"), _MARK
    )
    flat, row = pieces.flat_values, pieces.value_rowids()
    is_span = tf.ragged.range(pieces.row_lengths()).flat_values % 2 == 1
    is_slot = is_span & ~tf.strings.regex_full_match(flat, _LEFT_IN_TEXT)
    followers = tf.concat([flat[1:], [""]], 0)[: tf.size(flat)]
    kept = numbers.translated(flat, followers, target)
    kinds = tf.fill(tf.shape(flat), "")
    if has_dates(target):
        kept, kinds = dates.translated(kept)
        is_slot |= is_span & tf.not_equal(kinds, "")
    if terms is not None:
        is_term = tf.equal(flat[:, None], terms)  # (pieces, G)
        given = tf.gather(
            tf.concat([translations, [""]], 0),
            tf.argmax(tf.pad(tf.cast(is_term, tf.int32), [[0, 0], [0, 1]]), 1),
        )
        is_given = tf.reduce_any(is_term, axis=1)
        kept, is_slot = tf.where(is_given, given, kept), is_slot | (is_given & is_span)
        kinds = tf.where(is_given, "", kinds)
    # Number of the slots before each piece in its text.
    before = tf.cumsum(tf.cast(is_slot, tf.int32), exclusive=True)
    number = before - tf.gather(before, tf.gather(pieces.row_starts(), row))
    is_slot &= number < len(SLOTS)
    slot = tf.gather(tf.constant(SLOTS), tf.clip_by_value(number, 0, len(SLOTS) - 1))
    # The kind of a date stays in the text, after the slot.
    slot = tf.strings.join([slot, kinds])
    with_slots = pieces.with_flat_values(tf.where(is_slot, slot, flat))
    literals = tf.RaggedTensor.from_value_rowids(
        tf.boolean_mask(kept, is_slot), tf.boolean_mask(row, is_slot), nrows=pieces.nrows()
    )
    return (
        tf.strings.reduce_join(with_slots, axis=1),
        literals.to_tensor("", shape=[None, len(SLOTS)]),
    )


def restore(texts: tf.Tensor, literals: tf.Tensor, target: str) -> tf.Tensor:
    """Put the spans in the place of their slots; a span whose slot is missing is appended.

    Args:
        texts: Translations with slots, strings `(B,)`.
        literals: What takes the place of each slot, strings `(B, slots)`; see `protect`.
        target: Language code of the translation.
    """
    import tensorflow as tf

    texts = tf.strings.regex_replace(texts, _MARK, " ")
    pieces = tf.strings.split(tf.strings.regex_replace(texts, _SLOT, rf"{_MARK}\0{_MARK}"), _MARK)
    flat, row = pieces.flat_values, pieces.value_rowids()
    is_used = tf.equal(flat[:, None], tf.constant(SLOTS))  # (pieces, slots)
    place = tf.stack([row, tf.argmax(is_used, axis=1)], axis=1)
    filled = tf.where(tf.reduce_any(is_used, axis=1), tf.gather_nd(literals, place), flat)
    whole = tf.strings.reduce_join(pieces.with_flat_values(filled), axis=1)
    if has_dates(target):
        whole = dates.with_one_period(numbers.with_ordinal_endings(whole))
    uses = tf.math.unsorted_segment_sum(tf.cast(is_used, tf.int32), row, tf.shape(texts)[0])
    is_missing = tf.not_equal(literals, "") & tf.equal(uses, 0)
    missing = tf.where(is_missing, tf.strings.join([" ", literals]), "")
    return tf.strings.join([whole, tf.strings.reduce_join(missing, axis=1)])


def with_slots(translations: tf.Tensor, literals: tf.Tensor) -> tf.Tensor:
    """Put slots in the place of spans in given translations, the opposite of `restore`.

    Args:
        translations: Strings `(B,)`.
        literals: Spans of each slot, strings `(B, slots)`; see `protect`.
    """
    import tensorflow as tf

    def of_row(row: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        text, spans = row
        # A span that ends with the period of the sentence leaves one for the sentence.
        text = dates.with_two_periods(text)
        for span, slot in zip(tf.unstack(spans, len(SLOTS)), SLOTS, strict=True):
            found = tf.strings.regex_replace(text, _quoted(span), slot, replace_global=False)
            text = tf.where(tf.equal(span, ""), text, found)
        return dates.with_one_period(text)

    return tf.map_fn(of_row, (translations, literals), fn_output_signature=tf.string)


def _quoted(texts: tf.Tensor) -> tf.Tensor:
    """Regular expressions that match the texts themselves."""
    import tensorflow as tf

    return tf.strings.regex_replace(texts, r"([!-/:-@\[-`{-~])", r"\\\1")
