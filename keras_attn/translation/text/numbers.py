"""Numbers of several digits: found in text, and written as the target language writes them."""

import re

from keras_attn.translation.text.characters import Replacements, replace
from keras_attn.translation.text.tables import read_rules

_COUNTS = "one two three four five six seven eight nine ten".split()

# How the number in a span is written in digits. ";" ends the number until the last rules.
IN_DIGITS = read_rules("in digits")
_COMMAS = read_rules("commas")  # after each three digits, from the end
WITH_COMMAS = (*IN_DIGITS, *_COMMAS)
# Four digits without a word that counts may be a year or a code.
WITH_COMMAS_FROM_TEN_THOUSAND = (
    *IN_DIGITS,
    ("^([0-9]{4})$", r"\1;"),
    *_COMMAS,
    (";", ""),
)
# From ten million on, with a word where two decimals are enough.
LARGE_IN_ENGLISH = (*IN_DIGITS, *read_rules("large number in English"), *_COMMAS)
# From English words to 万, 億 and 兆.
IN_MYRIADS = read_rules("in myriads")
FRACTION_IN_ENGLISH = read_rules("fraction in English")
ABOUT_IN_ENGLISH: Replacements = (
    *((f"^{pattern}", value) for pattern, value in read_rules("digit or the next")),
    *((f"{counter}$", f" {word}") for counter, word in read_rules("counter in English")),
)
SIGNED_IN_DIGITS: Replacements = (("マイナス|−", "-"), ("度", ""))
SIGNED_IN_ENGLISH: Replacements = (SIGNED_IN_DIGITS[0], ("度", " degrees"))
# Endings of English ordinal numbers: training writes "th" after each placeholder.
ORDINAL_ENDINGS = read_rules("ordinal ending")


def ways_to_write(span: str) -> str:
    """Regular expression of the ways to write a number: as given, in digits, and with commas.

    A percentage is written with a sign or a word, and a score with a hyphen or a word.
    """
    digits = replace(span, IN_DIGITS)
    if digits.endswith("%"):
        other = f"{digits[:-1]} percent"
    elif "対" in span:
        other = digits.replace("-", " to ")
    else:
        other = replace(span, WITH_COMMAS)
    return _any_of(span, digits, other)


def ways_to_write_large(span: str) -> str:
    """Regular expression of the ways to write a number with 万, 億 or 兆."""
    digits = replace(span, IN_DIGITS)
    if not digits.isdigit():  # 1,2万
        return whole(span)
    ways = {span, digits, replace(span, WITH_COMMAS), replace(span, LARGE_IN_ENGLISH)}
    for word, zeros in _ZEROS.items():
        count = f"{int(digits) / 10**zeros:.4f}".rstrip("0").rstrip(".")
        if float(count) >= 0.1:
            ways.add(f"{count} {word}")
            ways |= {f"{name} {word}" for name in _COUNT_WORDS.get(count, ())}
    return _any_of(*sorted(ways, key=len, reverse=True))


_ZEROS = {"trillion": 12, "billion": 9, "million": 6, "thousand": 3}
_COUNT_WORDS = {str(count): (word,) for count, word in enumerate(_COUNTS, start=1)} | {
    "1": ("a", "one"), "20": ("twenty",), "30": ("thirty",), "50": ("fifty",),
    "100": ("a hundred", "one hundred"),
}  # fmt: skip


def ways_to_copy(replacements: Replacements, span: str) -> str:
    """Regular expression of a span as given, and as replacements write it."""
    return _any_of(span, replace(span, replacements))


def ways_to_write_fraction(span: str) -> str:
    """Regular expression of the ways to write a fraction: "two thirds", "2/3"."""
    english = replace(span, FRACTION_IN_ENGLISH)
    below, above = replace(span, FRACTION_IN_ENGLISH[:10]).split("分の")
    ways = [english, english.replace(" ", "-"), f"{above}/{below}"]
    ways += {
        "one third": ["a third"],
        "a quarter": ["one quarter", "one-quarter", "one fourth"],
    }.get(english, [])
    return _any_of(*ways)


def ways_to_write_about(span: str) -> str:
    """Regular expression of the ways to write 二、三日: "two or three days", "2 or 3 days"."""
    low, high, *counted = replace(span, ABOUT_IN_ENGLISH).replace(" or ", " ").split(" ")
    in_words = " or ".join(_COUNTS[int(digit) - 1] for digit in (low, high))
    ways = (f"{low} or {high}", in_words, f"{low}-{high}")
    return _any_of(*(" ".join((way, *counted)) for way in ways))


def ways_to_write_signed(span: str) -> str:
    """Regular expression of the ways to write a signed number or a temperature: "-5", "minus 5"."""
    value = replace(span, SIGNED_IN_ENGLISH)
    return _any_of(*(value.replace("-", sign) for sign in ("-", "minus ", "−")))


def _any_of(*texts: str) -> str:
    return "|".join(map(whole, texts))


def whole(text: str) -> str:
    """Regular expression of a text that is not part of a longer word or number."""
    before = r"(?<![0-9A-Za-z.,])" if text[0].isalnum() else ""
    after = r"(?![0-9]|[.,][0-9])" if text[-1].isdigit() else ""
    return before + re.escape(text) + (r"(?![0-9A-Za-z])" if text[-1].isalpha() else after)


def in_kanji(number: int) -> str:
    """Number below 100 in kanji."""
    tens, ones = divmod(number, 10)
    digits = ("", *"一二三四五六七八九")
    return (digits[tens] if tens > 1 else "") + ("十" if tens else "") + digits[ones]
