"""Dates and times of day with numbers in Japanese, and how English writes them.

A date is one span, so no number of it can take the place of another one: 10月28日 is "October 28".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf

# Regular expressions for Python and RE2 alike.
_DIGIT = "[一二三四五六七八九]"
_NUMBER = rf"(?:[0-9]{{1,2}}|[一二三四五六七八九]?十{_DIGIT}?|{_DIGIT})"
_DAY = rf"(?:[0-9]{{4}}年)?{_NUMBER}月{_NUMBER}日"
_MONTH_OF_YEAR = rf"[0-9]{{4}}年{_NUMBER}月"
_MONTH = "(?:[0-9]{1,2}|十[一二]?|[一二三四五六七八九])月"
_TIME = rf"午[前後]{_NUMBER}時(?:{_NUMBER}分|半)?|{_NUMBER}時(?:{_NUMBER}分|半)"
DATE = "|".join((_DAY, _MONTH_OF_YEAR, _MONTH, _TIME))
# Found before dates and left in the text: "three hours in the afternoon", and words written with
# the kanji of a month.
NO_DATE = rf"午[前後]{_NUMBER}時間|五月[蠅雨]"

# Text after the slot of a date, by its kind. It tells the model which preposition to use.
_KINDS = ((_DAY, "月日"), (_MONTH_OF_YEAR, "年月"), (_MONTH, "月"), (_TIME, "時分"))

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_VALID_MONTH = "1[0-2]|[1-9]"
# How a span is written in English: pattern and replacement, one after the other. The spaces are
# there because Python reads "\\10" as group 10.
_IN_ENGLISH = (
    *((kanji, str(digit)) for digit, kanji in enumerate(_DIGIT[1:-1], start=1)),
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

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_ORDINALS += [f"twenty-{word}" for word in _ORDINALS[:9]] + ["thirtieth", "thirty-first"]


def in_english(date: str) -> str:
    """A date or time that `DATE` matches, as English writes it.

    Example:

    >>> [in_english(date) for date in ("2026年3月31日", "十月二十八日", "午後3時半", "7時5分")]
    ['March 31, 2026', 'October 28', '3:30 p.m.', '7:05']
    """
    for pattern, replacement in _IN_ENGLISH:
        date = re.sub(pattern, replacement, date)
    return date


def ways_to_write(date: str) -> str:
    """Regular expression of the ways to write a date or time in English.

    Example:

    >>> bool(re.fullmatch(ways_to_write("5月3日"), "the third of May"))
    True
    """
    english = in_english(date)
    if "時" in date:
        return _ways_to_write_time(english)
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


def kind(date: str) -> str:
    """Text after the slot of a date or time, by its kind: one of 月日, 年月, 月, 時分."""
    return next(kind for pattern, kind in _KINDS if re.fullmatch(pattern, date))


def translated(spans: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Write spans that are dates or times in English; other spans stay.

    Args:
        spans: Strings `(N,)`.

    Returns:
        The spans, strings `(N,)`, and what stays in the text after the slot of each, strings
        `(N,)`, empty for other spans.
    """
    import tensorflow as tf

    kinds = tf.fill(tf.shape(spans), "")
    for pattern, name in _KINDS:
        kinds = tf.where(tf.strings.regex_full_match(spans, pattern), name, kinds)
    written = spans
    for pattern, replacement in _IN_ENGLISH:
        written = tf.strings.regex_replace(written, pattern, replacement)
    return tf.where(tf.equal(kinds, ""), spans, written), kinds


def with_one_period(texts: tf.Tensor) -> tf.Tensor:
    """Remove the second of two periods after "a.m." and "p.m."."""
    import tensorflow as tf

    return tf.strings.regex_replace(texts, r"\b([ap]\.m\.)\.", r"\1")


def with_two_periods(texts: tf.Tensor) -> tf.Tensor:
    """Add a period after "a.m." and "p.m." at the end of a text."""
    import tensorflow as tf

    return tf.strings.regex_replace(texts, r"\b([ap]\.m\.)$", r"\1.")
