"""Numbers of several digits: found in text, and written as the target language writes them."""

import re

from keras_attn.translation.text.characters import Replacements, replace

DIGIT = "[一二三四五六七八九]"
KANJI_TO_DIGITS: Replacements = tuple(
    (kanji, str(digit)) for digit, kanji in enumerate(DIGIT[1:-1], start=1)
)
# Numbers of several digits, and percentages, as a regular expression for Python and RE2 alike. The
# model itself translates single digits, mostly to words.
_TENS = f"{DIGIT}?十{DIGIT}?"
_HUNDREDS = f"{DIGIT}?百(?:{_TENS}|{DIGIT})?"
_REST = f"(?:{_HUNDREDS}|{_TENS}|{DIGIT})"
_BELOW_MYRIAD = f"{DIGIT}?千{_REST}?|{_HUNDREDS}|{_TENS}"
# 十, 百 and 千 alone are more often parts of words.
_SEVERAL_KANJI = "|".join(
    (
        f"{DIGIT}千{_REST}?|千{_REST}",
        f"{DIGIT}百(?:{_TENS}|{DIGIT})?|百(?:{_TENS}|{DIGIT})",
        f"{DIGIT}十{DIGIT}?|十{DIGIT}",
    )
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
        rf"(?:{_BELOW_MYRIAD}|{DIGIT})万(?:{_BELOW_MYRIAD}|{DIGIT})?|{_SEVERAL_KANJI}",
    )
)
# Left in the text: months have names, ordinal numbers have other forms, and some words are written
# with numbers.
IN_WORDS = (
    rf"[0-9]{{1,2}}月|(?:十[一二]?|{DIGIT})月|[0-9]+(?:st|nd|rd|th)\b|八百[屋長]|五十嵐|十中八九"
)

# How the number in a span is written in digits: pattern of the span, and replacement. Kanji become
# eight digits with "|" between them. The spaces are there because Python reads "\\10" as group 10.
_PLACES = "".join(f"(?:([1-9]){place})?" for place in "千百十")
IN_DIGITS: Replacements = (
    *KANJI_TO_DIGITS,
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
# In digits, with a comma after each three digits, from the end.
WITH_COMMAS: Replacements = (
    *IN_DIGITS,
    (r"^([1-9][0-9]*)([0-9]{3})$", r"\1,\2"),
    *((r"^([0-9]+)([0-9]{3}),", r"\1,\2,"),) * 3,
)
# Endings of English ordinal numbers: training writes "th" after each placeholder.
ORDINAL_ENDINGS: Replacements = (
    (r"\b((?:[0-9]*[02-9])?1)th\b", r"\1st"),
    (r"\b((?:[0-9]*[02-9])?2)th\b", r"\1nd"),
    (r"\b((?:[0-9]*[02-9])?3)th\b", r"\1rd"),
)
# Digits and percent signs of full width, replaced by those of ASCII.
HALF_WIDTH: Replacements = (
    ("％", "%"),
    *((chr(0xFF10 + digit), str(digit)) for digit in range(10)),
)


def ways_to_write(span: str) -> str:
    """Regular expression of the ways to write a number: as given, in digits, and with commas.

    A percentage is written with a sign or a word, and a score with a hyphen or a word.

    >>> [bool(re.fullmatch(ways_to_write("23万"), way)) for way in ("230000", "230,000", "23")]
    [True, True, False]
    >>> bool(re.fullmatch(ways_to_write("3対1"), "3 to 1"))
    True
    """
    digits = replace(span, IN_DIGITS)
    if digits.endswith("%"):
        other = f"{digits[:-1]} percent"
    elif "対" in span:
        other = digits.replace("-", " to ")
    else:
        other = replace(span, WITH_COMMAS)
    return "|".join(map(whole, (span, digits, other)))


def whole(text: str) -> str:
    """Regular expression of a text that is no part of a longer word or number."""
    before = r"(?<![0-9A-Za-z.,])" if text[0].isalnum() else ""
    after = r"(?![0-9]|[.,][0-9])" if text[-1].isdigit() else ""
    return before + re.escape(text) + (r"(?![0-9A-Za-z])" if text[-1].isalpha() else after)
