"""Spans of text that a translation copies: addresses, placeholders, tags, numbers, given terms.

A span becomes a slot, one character that the model learned to carry to its place. After the search,
the span, or the translation given for it, takes the place of the slot. So a model that has seen
little text does not misspell an address and drops no digit of a number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

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

# Numbers of several digits. The model itself translates single digits, mostly to words.
_DIGIT = "[一二三四五六七八九]"
_BELOW_MYRIAD = (
    rf"{_DIGIT}?千(?:{_DIGIT}?百)?(?:{_DIGIT}?十)?{_DIGIT}?"
    rf"|{_DIGIT}?百(?:{_DIGIT}?十)?{_DIGIT}?|{_DIGIT}?十{_DIGIT}?"
)
NUMBER = "|".join(
    (
        r"[0-9]+(?:\.[0-9])?万(?:[0-9]{4}|[1-9]千)?|[0-9]+[億千]",
        r"[0-9]+(?:[-.:/][0-9]+)+",  # 3.14, 10:30, telephone numbers
        r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?",
        r"[A-Za-z]+[0-9][0-9A-Za-z]*|[0-9]+[A-Za-z][0-9A-Za-z]*",  # A4, 20km
        r"[0-9]{2,}",
        rf"(?:{_BELOW_MYRIAD}|{_DIGIT})万(?:{_BELOW_MYRIAD}|{_DIGIT})?|{_BELOW_MYRIAD}",
    )
)
# Found as spans, but left in the text: months have names, ordinal numbers have other forms, and
# some words are written with numbers.
TRANSLATED = (
    rf"[0-9]{{1,2}}月|(?:十[一二]?|{_DIGIT})月|[0-9]+(?:st|nd|rd|th)\b|八百[屋長]|五十嵐|十中八九"
)
_ALONE = "[十百千]"  # a number by itself, but more often part of a word

# How the number in a span is written in digits: pattern of the span, and replacement. Kanji become
# eight digits with "|" between them. The spaces are there because Python reads "\\10" as group 10.
_PLACES = "".join(f"(?:([1-9]){place})?" for place in "千百十")
_IN_DIGITS = (
    *((kanji, str(digit)) for digit, kanji in enumerate(_DIGIT[1:-1], start=1)),
    *((("(^|[十百千万])([十百千])"), r"\1 1\2"), (" ", "")) * 2,
    (
        rf"^(?:{_PLACES}([1-9])?万)?{_PLACES}([1-9])?$",
        "|".join(rf"\{group}" for group in range(1, 9)),
    ),
    (r"^\|", "0|"),
    *((r"\|\|", "|0|"),) * 2,
    (r"\|$", "|0"),
    (r"^(?:0\|)+", ""),
    (r"\|", ""),
    (r"^([0-9]{1,3}),([0-9]{3})$", r"\1\2"),
    (r"^([0-9]{1,3}),([0-9]{3}),([0-9]{3})$", r"\1\2\3"),
    (r"^([0-9]+)万([0-9]{4})$", r"\1\2"),
    (r"^([0-9]+)万([1-9])千$", r"\1\2 000"),
    (r"^([0-9]+)\.([0-9])万$", r"\1\2 000"),
    (r"^([0-9]+)万$", r"\1 0000"),
    (r"^([0-9]+)億$", r"\1 00000000"),
    (r"^([0-9]+)千$", r"\1 000"),
    (" ", ""),
)
# A comma after each three digits, from the end.
_COMMAS = (
    (r"^([1-9][0-9]*)([0-9]{3})$", r"\1,\2"),
    (r"^([0-9]+)([0-9]{3}),", r"\1,\2,"),
    (r"^([0-9]+)([0-9]{3}),", r"\1,\2,"),
    (r"^([0-9]+)([0-9]{3}),", r"\1,\2,"),
)
# English ordinal numbers: training writes "th" after each slot.
_ORDINALS = (
    (r"\b((?:[0-9]*[02-9])?1)th\b", r"\1st"),
    (r"\b((?:[0-9]*[02-9])?2)th\b", r"\1nd"),
    (r"\b((?:[0-9]*[02-9])?3)th\b", r"\1rd"),
)
_YEAR = r"(?s)年.*"
# Languages that write 1万 for 10,000.
_WITH_MYRIADS = ("ja", "zh")
_FULL_WIDTH = tuple((chr(0xFF10 + digit), str(digit)) for digit in range(10))

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


def is_translated(span: str) -> bool:
    """Whether a span is left in the text, because its translation is not a copy."""
    return re.fullmatch(f"{TRANSLATED}|{_ALONE}", span) is not None


def numbers(span: str) -> tuple[str, str]:
    """Ways to write the number in a span: in digits, and with a comma after each three digits.

    Example:

    >>> numbers("1,900"), numbers("23万"), numbers("千二十五"), numbers("10:30")
    (('1900', '1,900'), ('230000', '230,000'), ('1025', '1,025'), ('10:30', '10:30'))
    """
    for pattern, replacement in _IN_DIGITS:
        span = re.sub(pattern, replacement, span)
    with_commas = span
    for pattern, replacement in _COMMAS:
        with_commas = re.sub(pattern, replacement, with_commas)
    return span, with_commas


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
            numbers get commas, but years do not.
        terms: Terms with a given translation, strings `(G,)`. A longer term is found before a
            shorter one, and before other spans. Defaults to none.
        translations: Translations of `terms`, strings `(G,)`.

    Returns:
        Texts with slots, strings `(B,)`, and what takes the place of each slot, strings
        `(B, slots)`, empty for slots that a text does not have.
    """
    import tensorflow as tf

    pattern = tf.constant(f"{COPIED}|{TRANSLATED}|{NUMBER}")
    if terms is not None:
        longest_first = tf.argsort(tf.strings.length(terms), direction="DESCENDING", stable=True)
        found = tf.strings.regex_replace(tf.gather(terms, longest_first), r"\\E", "")
        quoted = tf.where(tf.equal(found, ""), "", tf.strings.join([r"\Q", found, r"\E|"]))
        pattern = tf.strings.join([tf.strings.reduce_join(quoted), pattern])
    texts = _replaced(texts, ((_MARK, " "), *_FULL_WIDTH))
    pieces = tf.strings.split(tf.strings.regex_replace(texts, pattern, rf"{_MARK}\0{_MARK}"), _MARK)
    flat, row = pieces.flat_values, pieces.value_rowids()
    is_span = tf.ragged.range(pieces.row_lengths()).flat_values % 2 == 1
    is_slot = is_span & ~tf.strings.regex_full_match(flat, f"{TRANSLATED}|{_ALONE}")
    is_number = tf.strings.regex_full_match(flat, NUMBER)
    kept = flat
    if target not in _WITH_MYRIADS:
        kept = tf.where(is_number, _replaced(flat, _IN_DIGITS), flat)
    if target == "en":
        followers = tf.concat([flat[1:], [""]], 0)[: tf.size(flat)]
        is_year = tf.strings.regex_full_match(followers, _YEAR)
        kept = tf.where(is_number & ~is_year, _replaced(kept, _COMMAS), kept)
    if terms is not None:
        is_term = tf.equal(flat[:, None], terms)  # (pieces, G)
        given = tf.gather(
            tf.concat([translations, [""]], 0),
            tf.argmax(tf.pad(tf.cast(is_term, tf.int32), [[0, 0], [0, 1]]), 1),
        )
        is_given = tf.reduce_any(is_term, axis=1)
        kept, is_slot = tf.where(is_given, given, kept), is_slot | (is_given & is_span)
    # Number of the slots before each piece in its text.
    before = tf.cumsum(tf.cast(is_slot, tf.int32), exclusive=True)
    number = before - tf.gather(before, tf.gather(pieces.row_starts(), row))
    is_slot &= number < len(SLOTS)
    slot = tf.gather(tf.constant(SLOTS), tf.clip_by_value(number, 0, len(SLOTS) - 1))
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
    if target == "en":
        whole = _replaced(whole, _ORDINALS)
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
        for span, slot in zip(tf.unstack(spans, len(SLOTS)), SLOTS, strict=True):
            pattern = tf.strings.join([r"\Q", span, r"\E"])
            found = tf.strings.regex_replace(text, pattern, slot, replace_global=False)
            text = tf.where(tf.equal(span, ""), text, found)
        return text

    return tf.map_fn(of_row, (translations, literals), fn_output_signature=tf.string)


def _replaced(texts: tf.Tensor, replacements: tuple[tuple[str, str], ...]) -> tf.Tensor:
    import tensorflow as tf

    for pattern, replacement in replacements:
        texts = tf.strings.regex_replace(texts, pattern, replacement)
    return texts
