"""Kinds of spans that become placeholders: what they look like, and what becomes of them.

Each kind is a row of `KINDS`. Training (`training_placeholders.py`) and the graph
(`placeholders.py`) find, classify and mask spans by these rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

from keras_attn.languages import SCRIPTS, read_language
from keras_attn.translation.text import dates, english, names, numbers
from keras_attn.translation.text.characters import Replacements, replace
from keras_attn.translation.text.tables import COPIED, read_pattern


class Kind(NamedTuple):
    """Kind of spans: what it looks like, and what becomes of it."""

    name: str  # for readers and tests
    pattern: str  # regular expression, for Python and RE2 alike
    # Function from a span to a regular expression of its translations; training masks a span that
    # has one translation. None for spans that are left in the text: they are found so that no part
    # of them is another span.
    ways: Callable[[str], str] | None = numbers.whole
    # How a language writes the span, by `Language.numbers`. Other languages copy the span.
    replacements: Mapping[str, Replacements] = {}
    mark: str = ""  # text that stays after the placeholder
    # Regular expressions of the end of the text before the span, and of the beginning of the text
    # after it. A kind with one of them has the pattern of a later kind, for all other places.
    after: str = ""
    before: str = ""
    # `Language.numbers` or `Language.noise` of the target languages that have this kind; or all.
    targets: str = ""
    sources: str = ""  # `Language.noise` of the source languages that have this kind; or all
    values: Mapping[str, str] = {}  # how English writes the spans, in place of `replacements`
    # Whether the pattern is sought; else it is one of the spans that another kind finds.
    is_sought: bool = True
    # All first characters of spans, with which Python finds them faster. Without, they begin with
    # anything but what most of Japanese text is: hiragana, "、" and "。".
    first: str = ""


class Kinds(tuple[Kind, ...]):
    """Kinds of spans, in the order in which they are sought, and a regular expression of all."""

    @cached_property
    def pattern(self) -> str:
        return "|".join(dict.fromkeys(kind.pattern for kind in self if kind.is_sought))

    @cached_property
    def compiled(self) -> re.Pattern:
        patterns = dict.fromkeys(
            f"(?=[{kind.first}])(?:{kind.pattern})" if kind.first else kind.pattern
            for kind in self
            if kind.is_sought
        )
        first = "".join(kind.first for kind in self)
        begins = f"(?=[^ぁ-ん、。]{f'|[{first}]' if first else ''})"
        return re.compile(f"{begins}(?:{'|'.join(patterns)})", re.ASCII)  # `\b` as in RE2


_IN_DIGITS = {"digits": numbers.IN_DIGITS, "english": numbers.IN_DIGITS}
_WITH_COMMAS = {"digits": numbers.IN_DIGITS, "english": numbers.WITH_COMMAS}
_FROM_TEN_THOUSAND = {**_WITH_COMMAS, "english": numbers.WITH_COMMAS_FROM_TEN_THOUSAND}
_SIGNED = {
    **dict.fromkeys(("digits", "myriads"), numbers.SIGNED_IN_DIGITS),
    "english": numbers.SIGNED_IN_ENGLISH,
}
_LARGE = {"digits": numbers.IN_DIGITS, "english": numbers.LARGE_IN_ENGLISH}


def _kind(
    name: str,
    ways: Callable[[str], str] | None = numbers.whole,
    replacements: Mapping[str, Replacements] = {},
    of: str = "",
    **given: Any,
) -> Kind:
    """Kind with the pattern of its name, or of the name `of`."""
    return Kind(name, read_pattern(of or name), ways, replacements, **given)


def _english(name: str, ways: Callable, replacements: Replacements, mark: str = "") -> Kind:
    """Kind of spans of which English has a form of its own."""
    return _kind(name, ways, {"english": replacements}, mark=mark, targets="english")


def _japanese(
    name: str, replacements: Replacements, ways: Callable = english.ways_to_write, **given: Any
) -> Kind:
    """Kind of English spans of which Japanese has a form of its own."""
    given = {"targets": "japanese", "sources": "alphabetic", **given}
    return _kind(name, partial(ways, replacements), {"myriads": replacements}, **given)


def _name(name: str, pattern: str, **given: Any) -> Kind:
    """Kind of Japanese names, which English spells."""
    row = Kind(name, pattern, names.ways_to_write, targets="english", sources="japanese")
    first = "" if pattern in (names.NO_NAME, names.END_OF_WORD) else names.FIRST
    return row._replace(values=names.SPELLINGS, first=first, **given)


# In the order in which they are sought: the first that fits a place of the text is found there.
KINDS = (
    *map(_kind, COPIED),
    _kind("no date", ways=None, targets="english"),
    _name("word like a name", names.NO_NAME, ways=None),
    _name("name with a title", names.PATTERN, before=names.TITLE),
    _name("name", names.PATTERN_WITHOUT_TITLE, is_sought=False),
    _name("no name", names.PATTERN, ways=None),
    _name("end of a word", names.END_OF_WORD, ways=None),
    _english("duration", dates.ways_to_write_duration, dates.DURATION_IN_ENGLISH, "時間"),
    _english("decade", dates.ways_to_write_decade, dates.DECADE_IN_ENGLISH, "年代"),
    *(
        _english(f"date {mark}", dates.ways_to_write, dates.IN_ENGLISH, mark)
        for mark in ("月日", "年月", "月", "時分")
    ),
    _kind("number in a word", ways=None),
    _kind("listed digits", ways=None),
    _kind("vague number", ways=None),
    _kind(
        "about",
        numbers.ways_to_write_about,
        {"english": numbers.ABOUT_IN_ENGLISH},
        before="[^十百千万億兆0-9]|$",
        targets="english",
    ),
    _kind("no about", None, of="about", targets="english"),
    _english("fraction", numbers.ways_to_write_fraction, numbers.FRACTION_IN_ENGLISH),
    _japanese("time", english.TIME_IN_JAPANESE, english.ways_to_write_time),
    _japanese("half or quarter of an hour", english.SPOKEN_IN_JAPANESE),
    _japanese(
        "minutes of an hour",
        english.SPOKEN_IN_JAPANESE,
        after=read_pattern("before minutes"),
        before=read_pattern("after minutes"),
    ),
    _kind("no minutes", None, of="minutes of an hour", targets="japanese", sources="alphabetic"),
    _japanese("amount and a half", english.HALF_IN_JAPANESE),
    _japanese(
        "English fraction",
        english.FRACTION_IN_JAPANESE,
        before=read_pattern("after an English fraction"),
    ),
    _kind("no fraction", None, of="English fraction", targets="japanese", sources="alphabetic"),
    _japanese("English about", english.ABOUT_IN_JAPANESE),
    _japanese("minus", english.MINUS_IN_JAPANESE),
    _japanese("money in Japanese", english.MONEY_IN_JAPANESE, numbers.ways_to_copy),
    _kind("range"),
    _kind("signed number or temperature", numbers.ways_to_write_signed, _SIGNED),
    _kind("English amount", ways=None, targets="myriads"),
    _kind("money"),
    _kind("telephone"),
    _japanese(
        "number in words", numbers.IN_MYRIADS, numbers.ways_to_copy, targets="myriads", sources=""
    ),
    _kind(
        "decade in English",
        partial(replace, replacements=dates.DECADE_IN_JAPANESE),
        {"myriads": dates.DECADE_IN_JAPANESE},
        targets="myriads",
    ),
    _kind("large number", numbers.ways_to_write_large, _LARGE),
    _kind("year", numbers.ways_to_write, _IN_DIGITS, of="number", before="年"),
    _kind("code number", of="number", after=read_pattern("before a code")),
    _kind("number of a room", of="number", before=read_pattern("after a number of a room")),
    _kind(
        "counted number",
        numbers.ways_to_write,
        _WITH_COMMAS,
        of="number",
        before=read_pattern("after a counted number"),
    ),
    _kind("number", numbers.ways_to_write, _FROM_TEN_THOUSAND),
)
MARKS = tuple(dict.fromkeys(kind.mark for kind in KINDS if kind.mark))


def copied_spans(text: str) -> list[str]:
    """Spans of a text that a translation copies, in their order.

    >>> copied_spans("{name}さん、https://example.com/a を見てください。")
    ['{name}', 'https://example.com/a']
    """
    return re.findall(read_pattern("copied"), text, re.ASCII)


@cache
def kinds_of(source: str, target: str) -> Kinds:
    """Kinds of spans in texts that are translated from a language into another."""
    kinds = (
        kind
        for kind in KINDS
        if kind.targets in ("", read_language(target).numbers, read_language(target).noise)
        and kind.sources in ("", read_language(source).noise)
    )
    return Kinds((*kinds, *_words(source)))


def _words(source: str) -> tuple[Kind, ...]:
    """Kinds of words in other scripts than that of a language: Google, Café, Россия."""
    letters = read_language(source).other_letters
    if not letters:
        return ()
    word = rf"[{letters}](?:[{letters}0-9'’&.+/-]*[{letters}0-9+])?"
    return (
        # Left in the text: Tシャツ
        Kind("letter in a word", f"[A-Za-z][{SCRIPTS['Katakana']}]", ways=None),
        Kind("word", f"{word}(?:[.]? {word})*", _ways_to_write_word, first=letters),
    )


def _ways_to_write_word(span: str) -> str:
    """Regular expression of a word, whose plural may stand in the translation."""
    if not span.isascii() or not span[-1].isalpha():
        return numbers.whole(span)
    return rf"(?<![0-9A-Za-z.,]){re.escape(span)}(?=(?:['’]?s)?(?![0-9A-Za-z]))"
