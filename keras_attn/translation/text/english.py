"""Times, durations, fractions and money in English, and how Japanese writes them."""

import re

from keras_attn.translation.text.characters import Replacements, replace
from keras_attn.translation.text.numbers import IN_MYRIADS, in_kanji
from keras_attn.translation.text.tables import read_rules

_WORDS = (
    "twenty-five one two three four five six seven eight nine ten eleven twelve fifteen twenty "
    "thirty forty fifty"
).split()
_VALUES = (25, *range(1, 13), 15, 20, 30, 40, 50)
_PATTERNS = tuple(f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in _WORDS)
_TO_DIGITS: Replacements = (
    *((rf"\b{pattern}\b", str(value)) for pattern, value in zip(_PATTERNS, _VALUES, strict=True)),
    (r"\b[Aa]n?\b", "1"),
)
_COUNT = rf"\b(?:[0-9]+|{'|'.join(_PATTERNS)})"
_ONE_OR_MORE = rf"(?:{_COUNT}|\b[Aa]n?)"

# 3:30 p.m., 3pm
TIME = r"[0-9]{1,2}(?::[0-9]{2})? ?(?:[ap]\.m\.|[AP]\.M\.|(?:[ap]m|[AP]M)\b)"
TIME_IN_JAPANESE = read_rules("time in Japanese")
# Half past nine, a quarter to five; and ten to five, which is a time only after some words.
HALF_OR_QUARTER = rf"\b(?:[Hh]alf past|(?:[Aa] )?[Qq]uarter (?:to|past)) {_COUNT}\b"
MINUTES = rf"{_COUNT}(?: minutes?)? (?:to|past) {_COUNT}\b"
BEFORE_MINUTES = r"(?:\b(?:at|by|until|till|before|around|about|almost|nearly|is|was)|'s) "
SPOKEN_IN_JAPANESE = (*_TO_DIGITS, *read_rules("spoken time in Japanese"))
# Two and a half hours, an hour and a half, 2.5 miles, two hours and 30 minutes.
_UNITS = dict(read_rules("unit in Japanese"))
_UNIT = f"(?:{'|'.join(_UNITS)})"
HALF = (
    rf"{_COUNT} and a half {_UNIT}\b|{_ONE_OR_MORE} {_UNIT} and a half\b"
    rf"|{_ONE_OR_MORE} hours? (?:and )?{_COUNT} minutes?\b"
)
HALF_IN_JAPANESE: Replacements = (
    ("and a half", "半"),
    *_TO_DIGITS,
    *((f"^([0-9]+) (?:半 {unit}|{unit} 半)$", rf"\1{word}半") for unit, word in _UNITS.items()),
    ("^([0-9]+) hours? (?:and )?([0-9]+) minutes?$", r"\1時間\2分"),
)
_PARTS = dict(read_rules("part in Japanese"))
FRACTION = rf"{_ONE_OR_MORE}[ -](?:{'|'.join(_PARTS)})s?"
# A third of May is not a fraction.
AFTER_FRACTION = (
    " of (?:the|this|that|these|those|my|your|his|her|its|our|their|all|them|us|it|people)\\b"
)
FRACTION_IN_JAPANESE: Replacements = (
    *_TO_DIGITS,
    *((f"^([0-9]+)[ -]{word}s?$", rf"{value}分の\1") for word, value in _PARTS.items()),
)
_COUNTERS = dict(read_rules("counter in Japanese"))
ABOUT = rf"{_COUNT} or {_COUNT} (?:{'|'.join(_COUNTERS)})\b"
ABOUT_IN_JAPANESE: Replacements = (
    *_TO_DIGITS,
    (" or ", "、"),
    *((f" {word}$", kanji) for word, kanji in _COUNTERS.items()),
)
MINUS = rf"\b(?:[Mm]inus|[Nn]egative) {_COUNT}(?: degrees?)?\b"
MINUS_IN_JAPANESE = (*_TO_DIGITS, *read_rules("minus in Japanese"))
# $20, €15.50, $5 million
MONEY = r"[$€£¥₩][0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?: (?:thousand|million|billion|trillion)\b)?"
MONEY_IN_JAPANESE = (*read_rules("money in Japanese"), *IN_MYRIADS)


def ways_to_write_time(replacements: Replacements, time: str) -> str:
    """Regular expression of the ways to write 3:30 p.m. in Japanese."""
    written = replace(time, replacements)
    if written == "正午":
        return "正午|午後0時|12時"
    ((half, hour, minutes),) = re.findall("^(..)([0-9]+)時(?:([0-9]+)分)?$", written)
    hours = {hour, _kanji(hour), str(int(hour) % 12 + 12 * (half == "午後"))}
    if hour == "0":
        hours.add("12")
    ending = f"(?:{minutes}|{_kanji(minutes)})分" if minutes else ""
    if minutes == "30":
        ending = "(?:半|30分|三十分)"
    return rf"(?:{half}|[朝昼夜]|(?<![前後0-9十]))(?:{'|'.join(sorted(hours))})時{ending}"


def ways_to_write(replacements: Replacements, span: str) -> str:
    """Regular expression of what replacements write, with numbers in digits or in kanji."""
    written = replace(span, replacements)
    ways = (written, re.sub("[0-9]+", lambda number: _kanji(number[0]), written))
    written = "|".join(rf"(?<![0-9十百]){way}" for way in ways)
    return written.replace("マイナス", "(?:マイナス|氷点下|零下|-)")


def _kanji(number: str) -> str:
    return in_kanji(int(number)) if 0 < int(number) < 100 else number
