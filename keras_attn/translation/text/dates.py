"""Dates and times of day with numbers in Japanese, and how English writes them.

A date is one span, so no number of it can take the place of another one: 10月28日 is "October 28".
"""

import re

from keras_attn.translation.text.characters import Replacements, replace
from keras_attn.translation.text.numbers import DIGIT, KANJI_TO_DIGITS

# Regular expressions for Python and RE2 alike.
_NUMBER = rf"(?:[0-9]{{1,2}}|{DIGIT}?十{DIGIT}?|{DIGIT})"
_TIME = rf"午[前後]{_NUMBER}時(?:{_NUMBER}分|半)?|{_NUMBER}時(?:{_NUMBER}分|半)"
# Patterns by the text that stays after the placeholder of such a date. It tells the model which
# preposition to use.
PATTERNS = {
    "月日": rf"(?:[0-9]{{4}}年)?{_NUMBER}月{_NUMBER}日",
    "年月": rf"[0-9]{{4}}年{_NUMBER}月",
    "月": rf"(?:[0-9]{{1,2}}|十[一二]?|{DIGIT})月",
    "時分": _TIME,
}
# Left in the text: "three hours in the afternoon", and words written with the kanji of a month.
NO_DATE = rf"午[前後]{_NUMBER}時間|五月[蠅雨]"

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_VALID_MONTH = "1[0-2]|[1-9]"
# How a span is written in English: pattern and replacement, one after the other. The spaces are
# there because Python reads "\\10" as group 10.
IN_ENGLISH: Replacements = (
    *KANJI_TO_DIGITS,
    ("([1-9])十([1-9])", r"\1\2"),
    ("([1-9])十", r"\1 0"),
    ("十([1-9])", r"1\1"),
    ("十", "10"),
    (" ", ""),
    ("(^|[年月前後時])0([0-9])", r"\1\2"),
    (f"^([0-9]{{4}})年({_VALID_MONTH})月([0-9]+)日$", r"\2月 \3, \1"),
    (f"^([0-9]{{4}})年({_VALID_MONTH})月$", r"\2月 \1"),
    (f"^({_VALID_MONTH})月([0-9]+)日$", r"\1月 \2"),
    *((f"^{number}月", name) for number, name in enumerate(_MONTHS, start=1)),
    ("時半", "時30分"),
    ("時([0-9])分", r"時0\1分"),
    ("^(午[前後])?([0-9]+)時([0-9]+)分$", r"\1\2:\3"),
    ("^(午[前後])([0-9]+)時$", r"\1\2"),
    ("^午前(.*)$", r"\1 a.m."),
    ("^午後(.*)$", r"\1 p.m."),
)
# A span that ends with the period of the sentence leaves one for the sentence, and back.
TWO_PERIODS: Replacements = ((r"\b([ap]\.m\.)$", r"\1."),)
ONE_PERIOD: Replacements = ((r"\b([ap]\.m\.)\.", r"\1"),)

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_ORDINALS += [f"twenty-{word}" for word in _ORDINALS[:9]] + ["thirtieth", "thirty-first"]


def ways_to_write(date: str) -> str:
    """Regular expression of the ways to write a date or time in English, as whole words.

    >>> bool(re.fullmatch(ways_to_write("5月3日"), "the third of May"))
    True
    """
    english = replace(date, IN_ENGLISH)
    ways = _ways_to_write_time(english) if "時" in date else _ways_to_write_day(english)
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
    whole = rf"{time}{ending} in the {of_day}"
    bare = time if minute not in ("", "00") else f"{time} o'clock"
    return f"(?:{named}|{whole}|{bare})"
