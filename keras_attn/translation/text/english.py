"""Times, durations, fractions and money in English, and how Japanese writes them."""

import re

from keras_attn.translation.text.characters import Replacements, replace
from keras_attn.translation.text.numbers import IN_MYRIADS, in_kanji
from keras_attn.translation.text.tables import read_rules

_TO_DIGITS = read_rules("English count in digits")
TIME_IN_JAPANESE = read_rules("time in Japanese")
SPOKEN_IN_JAPANESE = (*_TO_DIGITS, *read_rules("spoken time in Japanese"))
HALF_IN_JAPANESE: Replacements = (
    ("and a half", "半"),
    *_TO_DIGITS,
    *(
        (f"^([0-9]+) (?:半 {unit}|{unit} 半)$", rf"\1{word}半")
        for unit, word in read_rules("unit in Japanese")
    ),
    ("^([0-9]+) hours? (?:and )?([0-9]+) minutes?$", r"\1時間\2分"),
)
FRACTION_IN_JAPANESE: Replacements = (
    *_TO_DIGITS,
    *(
        (f"^([0-9]+)[ -]{word}s?$", rf"{value}分の\1")
        for word, value in read_rules("part in Japanese")
    ),
)
ABOUT_IN_JAPANESE: Replacements = (
    *_TO_DIGITS,
    (" or ", "、"),
    *((f" {word}$", kanji) for word, kanji in read_rules("counter in Japanese")),
)
MINUS_IN_JAPANESE = (*_TO_DIGITS, *read_rules("minus in Japanese"))
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
