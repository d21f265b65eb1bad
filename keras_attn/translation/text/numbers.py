"""Numbers of several digits: found in text, and written as the target language writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from keras_attn.languages import read_language

if TYPE_CHECKING:
    import tensorflow as tf

# Numbers of several digits, and percentages, as a regular expression for Python and RE2 alike. The
# model itself translates single digits, mostly to words.
_DIGIT = "[一二三四五六七八九]"
_BELOW_MYRIAD = (
    rf"{_DIGIT}?千(?:{_DIGIT}?百)?(?:{_DIGIT}?十)?{_DIGIT}?"
    rf"|{_DIGIT}?百(?:{_DIGIT}?十)?{_DIGIT}?|{_DIGIT}?十{_DIGIT}?"
)
NUMBER = "|".join(
    (
        r"[0-9]+(?:\.[0-9]+)?(?:%|パーセント)",
        r"[0-9]+対[0-9]+",  # the score of a game
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
IN_WORDS = (
    rf"[0-9]{{1,2}}月|(?:十[一二]?|{_DIGIT})月|[0-9]+(?:st|nd|rd|th)\b|八百[屋長]|五十嵐|十中八九"
)
# `NUMBER` also matches these by themselves; they are more often parts of words.
LEFT_IN_TEXT = rf"{IN_WORDS}|[十百千]"

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
    (r"^([0-9.]+)パーセント$", r"\1%"),
    (r"^([0-9]+)対([0-9]+)$", r"\1-\2"),
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
_FULL_WIDTH = (("％", "%"), *((chr(0xFF10 + digit), str(digit)) for digit in range(10)))


def ways_to_write(span: str) -> tuple[str, str]:
    """Ways to write the number in a span: in digits, and with a comma after each three digits.

    A percentage is written with a sign or a word, and a score with a hyphen or a word.

    Example:

    >>> [ways_to_write(span) for span in ("1,900", "23万", "千二十五")]
    [('1900', '1,900'), ('230000', '230,000'), ('1025', '1,025')]
    >>> [ways_to_write(span) for span in ("4%", "3対1")]
    [('4%', '4 percent'), ('3-1', '3 to 1')]
    """
    is_score = "対" in span
    for pattern, replacement in _IN_DIGITS:
        span = re.sub(pattern, replacement, span)
    if span.endswith("%"):
        return span, f"{span[:-1]} percent"
    if is_score:
        return span, span.replace("-", " to ")
    with_commas = span
    for pattern, replacement in _COMMAS:
        with_commas = re.sub(pattern, replacement, with_commas)
    return span, with_commas


def half_width(texts: tf.Tensor) -> tf.Tensor:
    """Replace full-width digits and percent signs by ASCII ones, in strings of any shape."""
    return _replaced(texts, _FULL_WIDTH)


def translated(spans: tf.Tensor, followers: tf.Tensor, target: str) -> tf.Tensor:
    """Write spans that are numbers as the target language does; other spans stay.

    Args:
        spans: Strings `(N,)`.
        followers: Text after each span, strings `(N,)`. In English, a number gets commas unless it
            is a year.
        target: Language code of the translation.
    """
    import tensorflow as tf

    if read_language(target).numbers == "myriads":
        return spans
    is_number = tf.strings.regex_full_match(spans, NUMBER)
    spans = tf.where(is_number, _replaced(spans, _IN_DIGITS), spans)
    if read_language(target).numbers != "english":
        return spans
    is_year = tf.strings.regex_full_match(followers, _YEAR)
    return tf.where(is_number & ~is_year, _replaced(spans, _COMMAS), spans)


def with_ordinal_endings(texts: tf.Tensor) -> tf.Tensor:
    """Correct the endings of English ordinal numbers, for example "21th" to "21st"."""
    return _replaced(texts, _ORDINALS)


def _replaced(texts: tf.Tensor, replacements: tuple[tuple[str, str], ...]) -> tf.Tensor:
    import tensorflow as tf

    for pattern, replacement in replacements:
        texts = tf.strings.regex_replace(texts, pattern, replacement)
    return texts
