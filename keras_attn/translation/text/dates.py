"""Dates, times of day and durations in Japanese, and how English writes them.

A date is one span, so no number of it can take the place of another one: 10月28日 is "October 28".
"""

import re

from keras_attn.translation.text.characters import Replacements, replace
from keras_attn.translation.text.numbers import in_kanji
from keras_attn.translation.text.tables import read_pattern, read_rules

# Units of durations and their English.
_UNITS = {"時間": "hour", "年": "year", "[かヶカケヵ]月": "month", "週間": "week", "日": "day"}
_DIGIT = read_pattern("kanji digit")
# First year of each era.
_ERAS = {"明治": 1868, "大正": 1912, "昭和": 1926, "平成": 1989, "令和": 2019}
_LONGEST_ERA = 64  # years
ERA_YEAR = rf"(?:{'|'.join(_ERAS)})(?:元|[0-9]{{1,2}}|{_DIGIT}?十{_DIGIT}?|{_DIGIT})年[代間]?"
# Year of the common era, by a year of an era.
COMMON_YEARS = {
    f"{era}{written}年": f"{first + number - 1}年"
    for era, first in _ERAS.items()
    for number in range(1, _LONGEST_ERA + 1)
    for written in (str(number), f"{number:02}", in_kanji(number), *(["元"] if number == 1 else []))
}
_KANJI_IN_DIGITS = read_rules("kanji below 100 in digits")
# How a date, a time of day and a duration are written in English.
IN_ENGLISH = (*_KANJI_IN_DIGITS, *read_rules("date in English"))
DURATION_IN_ENGLISH = (*_KANJI_IN_DIGITS, *read_rules("duration in English"))
DECADE_IN_ENGLISH: Replacements = (("年代", "s"),)
# The model may write the "s" of a number of years after a decade, which has its own.
DECADE_WITH_ONE_S: Replacements = ((r"\b([0-9]+0s)s\b", r"\1"),)
DECADE_IN_JAPANESE: Replacements = (("'?s$", "年代"),)
# A span that ends with the period of the sentence leaves one for the sentence, and back.
TWO_PERIODS: Replacements = ((r"\b([ap]\.m\.)$", r"\1."),)
ONE_PERIOD: Replacements = ((r"\b([ap]\.m\.)\.", r"\1"),)

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_MINUTES = {5: "five", 10: "ten", 15: "(?:fifteen|(?:a )?quarter)", 20: "twenty", 25: "twenty-five"}
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_ORDINALS += [f"twenty-{word}" for word in _ORDINALS[:9]] + ["thirtieth", "thirty-first"]


def ways_to_write(date: str) -> str:
    """Regular expression of the ways to write a date or time in English, as whole words."""
    english = replace(date, IN_ENGLISH)
    ways = _ways_to_write_time(english) if "時" in date else _ways_to_write_day(english)
    return _whole(ways)


def ways_to_write_duration(duration: str) -> str:
    """Regular expression of the ways to write hours and minutes, or a unit of time and a half."""
    english = replace(duration, DURATION_IN_ENGLISH)
    numbers = re.findall("[0-9]+", english) or ["1"]
    first, *rest = (f"(?:{number}|{_WORDS[int(number)]})" if int(number) < len(_WORDS) else number
                    for number in numbers)  # fmt: skip
    if rest:
        return _whole(f"{first} hours? (?:and )?{rest[0]} minutes?")
    if duration.endswith("間"):
        return _whole(f"{first} hours?")
    unit = next(word for unit, word in _UNITS.items() if re.search(f"{unit}半$", duration))
    one = f"|{'an' if unit == 'hour' else 'a'} {unit} and a half" if numbers == ["1"] else ""
    half = rf"{first} and a half {unit}s|{first} {unit}s? and a half|{numbers[0]}\.5 {unit}s"
    return _whole(half + one)


def ways_to_write_decade(decade: str) -> str:
    """Regular expression of the ways to write a decade: 1990s, 1990's, '90s."""
    years = decade.removesuffix("年代")
    return rf"(?<![0-9])(?:{years}|['’]?{years[-2:]})['’]?s(?![0-9A-Za-z])"


def _whole(ways: str) -> str:
    return rf"(?<![0-9A-Za-z.,:])(?:{ways})(?![0-9A-Za-z]|[.,:][0-9])"


def _ways_to_write_day(english: str) -> str:
    ((name, day, year),) = re.findall(r"^([^ ]+)(?: ([0-9]{1,2}))?(?:,? ([0-9]{4}))?$", english)
    month = name if len(name) < 4 else rf"(?:{name}|{name[:3]}t?\.)"
    if day:
        ordinal = _ORDINALS[int(day) - 1] if 0 < int(day) <= len(_ORDINALS) else day
        number = rf"(?:{day}(?:st|nd|rd|th)?|{ordinal})"
        month = rf"(?:{month} (?:the )?{number}|(?:the )?{number} (?:of )?{month})"
    return month + (rf",? (?:of )?{year}" if year else "")


def _ways_to_write_time(english: str) -> str:
    if english in ("noon", "midnight"):
        return (
            rf"{english}|12(?::00)? ?(?:[ap]\.m\.|[ap]m|[AP]M)|(?:12|twelve) (?:o'clock )?{english}"
        )
    if minutes_of_hour := re.findall("^([0-9]+) (to|past) ([0-9]+)(.*)$", english):
        return _ways_to_speak(*minutes_of_hour[0])
    ((hour, minute, half),) = re.findall(r"^([0-9]+)(?::([0-9]+))?(?: ([ap])\.m\.)?$", english)
    word = _WORDS[int(hour)] if int(hour) < len(_WORDS) else hour
    if minute in ("", "00"):
        time = rf"(?:{hour}(?::00)?|{word})"
        ending = "(?: o'clock)?"
    else:
        time, ending = f"{hour}[:.]{minute}", ""
        if minute == "30":
            time = rf"(?:{time}|half past (?:{hour}|{word}))"
    if not half:
        return time
    of_day = "morning" if half == "a" else "(?:afternoon|evening)"
    named = rf"{time} ?(?:{half}\.m\.|{half}m|{half.upper()}M|{half.upper()}\.M\.)"
    spoken = rf"{time}{ending} in the {of_day}"
    bare = time if minute not in ("", "00") else f"{time} o'clock"
    of_24 = f"{int(hour) + 12}[:.]{minute or '00'}" if half == "p" else time
    return f"(?:{named}|{spoken}|{bare}|{of_24})"


def _ways_to_speak(minutes: str, side: str, hour: str, half: str) -> str:
    """Regular expression of "ten to five", "10 minutes before 5", "a quarter past five"."""
    count = f"(?:{minutes}|{_MINUTES.get(int(minutes), minutes)})(?: minutes?)?"
    sides = "(?:to|before|of)" if side == "to" else "(?:past|after)"
    return f"{count} {sides} (?:{hour}|{_WORDS[int(hour)]})(?: o'clock)?(?:{re.escape(half)})?"
