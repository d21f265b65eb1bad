"""Numbers of several digits: found in text, and written as the target language writes them."""

import re

from keras_attn.translation.text.characters import Replacements, replace
from keras_attn.translation.text.tables import read_rules

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
_SEVERAL_KANJI = (
    f"{DIGIT}千{_REST}?|千{_REST}|{DIGIT}百(?:{_TENS}|{DIGIT})?|百(?:{_TENS}|{DIGIT})"
    f"|{DIGIT}十{DIGIT}?|十{DIGIT}"
)
_DECIMAL = r"[0-9][0-9,]*(?:\.[0-9]{1,4})?"
# Count of 万, 億 or 兆.
_COUNT = f"(?:[0-9][0-9,]*[千百]|{_DECIMAL}|{_BELOW_MYRIAD}|{DIGIT})"
# Left in the text: 数百万, 何千円.
VAGUE = "[数何幾][十百千]?[万億兆]|[数何幾][十百千]+"
# Numbers with 万, 億 and 兆: 1.5億, 1,200万, 2億5千万, 二十億.
LARGE = (
    f"{_COUNT}兆(?:{_COUNT}億)?(?:{_COUNT}万)?{_COUNT}?|{_COUNT}億(?:{_COUNT}万)?{_COUNT}?"
    f"|{_COUNT}万{_COUNT}?"
)
# As English writes large numbers.
_COUNTS = "one two three four five six seven eight nine ten".split()
_COUNT_PATTERNS = tuple(f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in _COUNTS)
IN_ENGLISH_WORDS = (
    rf"(?:[0-9][0-9,]*(?:\.[0-9]+)?|[Hh]alf a|[Aa]|{'|'.join(_COUNT_PATTERNS)})"
    r" (?:thousand|million|billion|trillion)\b"
)
# Left in the text: Japanese writes "$5 million" and "3pm" with words of its own.
ENGLISH_AMOUNT = (
    r"[$€£¥₩][0-9][0-9,.]* (?:thousand|million|billion|trillion)\b"
    r"|[0-9]{1,2}(?::[0-9]{2})? ?[ap]m\b|[1-9]0s\b"
)
MONEY = r"[$€£¥₩][0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?:[KMB]\b|bn\b)?"
SIGNED = (
    r"マイナス[0-9]+(?:\.[0-9]+)?|[-−][0-9]+(?:\.[0-9]+)?(?:°[CF]|[%度])|[0-9]+(?:\.[0-9]+)?°[CF]"
)
FRACTION = f"(?:[0-9]+|{DIGIT}|十)分の(?:[0-9]+|{DIGIT})"
# 二、三: two or three.
_CONSECUTIVE = tuple(
    (f"{first}、{second}", f"{low} or {low + 1}")
    for digits in (DIGIT[1:-1], "123456789")
    for low, (first, second) in enumerate(zip(digits, digits[1:], strict=False), start=1)
)
# Counters that English writes as a word of its own.
_COUNTED = dict(read_rules("counter in English"))
_COUNTERS = "|".join(sorted(_COUNTED, key=len, reverse=True))
ABOUT = f"(?:{'|'.join(pattern for pattern, _ in _CONSECUTIVE)})(?:{_COUNTERS})?"
# Left in the text: digits that are counted or listed one by one.
_ONE = f"(?:{DIGIT}|[0-9])"
LISTED = rf"(?:{_ONE}、){{2,}}{_ONE}|{_ONE}、{_ONE}(?:年生|[月位章番号]|ページ)|第{_ONE}、{_ONE}"
TELEPHONE = r"\+[0-9]{1,3}(?:[ -]?[0-9(][0-9() -]{5,}[0-9])?|〒[0-9]{3}-[0-9]{4}"
NUMBER = (
    r"[0-9]+(?:\.[0-9]+)?(?:%|パーセント)|[0-9]+対[0-9]+|[0-9]+千"  # 4%, 3対1 (a score), 5千
    # A4, v1.2, 20km
    r"|[A-Za-z]+[0-9][0-9A-Za-z]*(?:\.[0-9]+)*|[0-9]+(?:\.[0-9]+)?[A-Za-z][0-9A-Za-z]*"
    r"|[0-9]+(?:[-.:/][0-9]+)+"  # 3.14, 10:30, telephone numbers
    rf"|[0-9]{{1,3}}(?:,[0-9]{{3}})+(?:\.[0-9]+)?|[0-9]{{2,}}|{_SEVERAL_KANJI}"
)
# Left in the text: months have names, ordinal numbers have other forms, and some words are written
# with numbers.
IN_WORDS = (
    rf"[0-9]{{1,2}}月|(?:十[一二]?|{DIGIT})月|[0-9]+(?:st|nd|rd|th)\b|八百[屋長]|十中八九"
    "|百人一首|千差万別|千羽鶴|十五夜|[四五]十肩|五十歩百歩|[三四五]十路|十二[支単]|四十九日|八百万の神"
)
# What comes before and after numbers whose digits English writes without commas.
BEFORE_CODE = r"(?:番号|番号?の|コード|暗証|パスワード|型番|品番|ID|No|PIN|内線|電話)[ :はがをの.]*"
AFTER_CODE = "号室|番線|番地|番出口|号線|号車|便|号機|番ゲート|番窓口|教室"

# How the number in a span is written in digits. ";" ends the number until the last rules.
IN_DIGITS = read_rules("in digits")
_COMMAS = read_rules("commas")  # after each three digits, from the end
WITH_COMMAS = (*IN_DIGITS, *_COMMAS)
# From ten million on, with a word where two decimals are enough.
LARGE_IN_ENGLISH = (*IN_DIGITS, *read_rules("large number in English"), *_COMMAS)
# From English words to 万, 億 and 兆.
IN_MYRIADS = read_rules("in myriads")
FRACTION_IN_ENGLISH = read_rules("fraction in English")
ABOUT_IN_ENGLISH: Replacements = (
    *((f"^{pattern}", value) for pattern, value in _CONSECUTIVE),
    *((f"{counter}$", f" {word}") for counter, word in _COUNTED.items()),
)
SIGNED_IN_DIGITS: Replacements = (("マイナス|−", "-"), ("度", ""))
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
    value = replace(span, SIGNED_IN_DIGITS)
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
    digits = ("", *DIGIT[1:-1])
    return (digits[tens] if tens > 1 else "") + ("十" if tens else "") + digits[ones]
