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

EMOJI = (
    "[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
    "[\u200d\ufe0f\u2600-\u27bf\U0001f000-\U0001faff\U000e0020-\U000e007f]*"
)


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


class Kinds(tuple[Kind, ...]):
    """Kinds of spans, in the order in which they are sought, and a regular expression of all."""

    @cached_property
    def pattern(self) -> str:
        return "|".join(dict.fromkeys(kind.pattern for kind in self if kind.is_sought))

    @cached_property
    def compiled(self) -> re.Pattern:
        return re.compile(self.pattern, re.ASCII)  # `\b` as in RE2


# Letters that a path or address may hold besides ASCII: words in kanji and katakana.
_WORD_LETTERS = SCRIPTS["Katakana"] + SCRIPTS["Han"]
TAG = (
    r"(?:</?[A-Za-z0-9][^<>\r\n]*>|<[!?][^<>\r\n]+>"
    r"|&[A-Za-z]{2,8};|&#[0-9A-Za-z]{1,7};)"  # tags, comments and entities
)
_NAME = r"[A-Za-z_][0-9A-Za-z_]*"
_COPIED = (
    Kind(
        "web address",
        r"(?:[a-z][a-z0-9+.]{2,}://|www\.|mailto:)"
        rf"(?:[!-~]*[/=#?&][{_WORD_LETTERS}](?:[!-~{_WORD_LETTERS}]*[0-9A-Za-z/#=_{_WORD_LETTERS}-])?"
        r"|[!-~]*\([0-9A-Za-z_]+\)|[!-~]*[0-9A-Za-z/#=_-])",
    ),
    Kind("e-mail address", r"[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)+"),
    Kind("mention", r"[@#][0-9A-Za-z_]+"),  # and hashtag
    # {{name}}, ${name}, {name}, and the plural forms of ICU with one level of braces inside
    Kind(
        "template",
        r"\{\{[^{}\r\n]+\}\}|[$%#]?\{[^{}\r\n]*(?:\{[^{}\r\n]*\}[^{}\r\n]*)*\}",
    ),
    # LaTeX: $x^2$, \frac{1}{2}
    Kind(
        "formula",
        r"\$[^$\s0-9ぁ-鿿][^$\r\nぁ-鿿]*[\\^_={][^$\r\nぁ-鿿]*\$|\$[\\^_={][^$\r\nぁ-鿿]*\$|\$[A-Za-z]\$|\\\([^\r\n]+?\\\)"
        r"|\\[A-Za-z]{2,}(?:\{[^{}\r\n]*\})+",
    ),
    # $HOME, %PATH%, __name__, :name, [name], \n
    Kind(
        "variable",
        rf"\${_NAME}|%{_NAME}%|__{_NAME}__|\B:[a-z_][0-9A-Za-z_]*|\[[a-z_][0-9A-Za-z_.-]*\]"
        r"|\\[ntr0](?:\\[ntr0])*\b|\\n",
    ),
    # %s, %(name)s, %1$d, %5.2f%%
    Kind(
        "format",
        rf"%(?:\({_NAME}\)|[0-9]+\$)?[-+0#]?[0-9.*]*[hlLqjzt]*[sdifuxXeEgGcp@](?:%%)?|%%",
    ),
    Kind("tag", rf"{TAG}(?:\s?{TAG})*"),
    Kind("code", r"`[^`\r\n]+`"),
    Kind(
        "path",
        rf"(?:(?:[A-Za-z]:|~|\.\.?|\\)[\\/]|\B[\\/])[A-Za-z_.~][0-9A-Za-z_.~{_WORD_LETTERS}-]*"
        rf"(?:[\\/][A-Za-z_.~{_WORD_LETTERS}][0-9A-Za-z_.~{_WORD_LETTERS}-]*)+[\\/]?"
        rf"|(?:[A-Za-z]:\\|~/|\.\.?/)(?:[0-9A-Za-z_.~{_WORD_LETTERS}-]+[\\/]?)*",
    ),
    Kind(
        "file", r"[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*\.(?:[a-z][0-9a-z]{1,4}|[A-Z][0-9A-Z]{1,4})\b"
    ),  # and domain
    Kind("private use", "[\ue000-\uf8ff]"),  # characters that no model knows
    Kind("emoji", EMOJI),
)
_IN_DIGITS = {"digits": numbers.IN_DIGITS, "english": numbers.IN_DIGITS}
_WITH_COMMAS = {"digits": numbers.IN_DIGITS, "english": numbers.WITH_COMMAS}
_SIGNED = dict.fromkeys(("digits", "english", "myriads"), numbers.SIGNED_IN_DIGITS)
_LARGE = {"digits": numbers.IN_DIGITS, "english": numbers.LARGE_IN_ENGLISH}


def _english(
    name: str, pattern: str, ways: Callable, replacements: Replacements, mark: str = ""
) -> Kind:
    """Kind of spans of which English has a form of its own."""
    return Kind(name, pattern, ways, {"english": replacements}, mark, targets="english")


def _japanese(
    name: str,
    pattern: str,
    replacements: Replacements,
    ways: Callable = english.ways_to_write,
    **given: Any,
) -> Kind:
    """Kind of English spans of which Japanese has a form of its own."""
    given = {"targets": "japanese", "sources": "alphabetic", **given}
    return Kind(name, pattern, partial(ways, replacements), {"myriads": replacements}, **given)


def _name(name: str, pattern: str, **given: Any) -> Kind:
    """Kind of Japanese names, which English spells."""
    row = Kind(name, pattern, names.ways_to_write, targets="english", sources="japanese")
    return row._replace(values=names.SPELLINGS, **given)


# In the order in which they are sought: the first that fits a place of the text is found there.
KINDS = (
    *_COPIED,
    Kind("no date", dates.NO_DATE, ways=None, targets="english"),
    _name("word like a name", names.NO_NAME, ways=None),
    _name("name with a title", names.PATTERN, before=names.TITLE),
    _name("name", names.PATTERN_WITHOUT_TITLE, is_sought=False),
    _name("no name", names.PATTERN, ways=None),
    _english(
        "duration", dates.DURATION, dates.ways_to_write_duration, dates.DURATION_IN_ENGLISH, "時間"
    ),
    _english("decade", dates.DECADE, dates.ways_to_write_decade, dates.DECADE_IN_ENGLISH, "年代"),
    *(
        _english(f"date {mark}", pattern, dates.ways_to_write, dates.IN_ENGLISH, mark)
        for mark, pattern in dates.PATTERNS.items()
    ),
    Kind("number in a word", numbers.IN_WORDS, ways=None),
    Kind("listed digits", numbers.LISTED, ways=None),
    Kind("vague number", numbers.VAGUE, ways=None),
    _english("about", numbers.ABOUT, numbers.ways_to_write_about, numbers.ABOUT_IN_ENGLISH),
    _english(
        "fraction", numbers.FRACTION, numbers.ways_to_write_fraction, numbers.FRACTION_IN_ENGLISH
    ),
    _japanese("time", english.TIME, english.TIME_IN_JAPANESE, english.ways_to_write_time),
    _japanese("half or quarter of an hour", english.HALF_OR_QUARTER, english.SPOKEN_IN_JAPANESE),
    _japanese(
        "minutes of an hour",
        english.MINUTES,
        english.SPOKEN_IN_JAPANESE,
        after=english.BEFORE_MINUTES,
    ),
    Kind("no minutes", english.MINUTES, ways=None, targets="japanese", sources="alphabetic"),
    _japanese("amount and a half", english.HALF, english.HALF_IN_JAPANESE),
    _japanese(
        "English fraction",
        english.FRACTION,
        english.FRACTION_IN_JAPANESE,
        before=english.AFTER_FRACTION,
    ),
    Kind("no fraction", english.FRACTION, ways=None, targets="japanese", sources="alphabetic"),
    _japanese("English about", english.ABOUT, english.ABOUT_IN_JAPANESE),
    _japanese("minus", english.MINUS, english.MINUS_IN_JAPANESE),
    _japanese("money in Japanese", english.MONEY, english.MONEY_IN_JAPANESE, numbers.ways_to_copy),
    Kind("signed number or temperature", numbers.SIGNED, numbers.ways_to_write_signed, _SIGNED),
    Kind("English amount", numbers.ENGLISH_AMOUNT, ways=None, targets="myriads"),
    Kind("money", numbers.MONEY),
    Kind("telephone", numbers.TELEPHONE),
    _japanese(
        "number in words",
        numbers.IN_ENGLISH_WORDS,
        numbers.IN_MYRIADS,
        numbers.ways_to_copy,
        targets="myriads",
        sources="",
    ),
    Kind(
        "decade in English",
        dates.ENGLISH_DECADE,
        partial(replace, replacements=dates.DECADE_IN_JAPANESE),
        {"myriads": dates.DECADE_IN_JAPANESE},
        targets="myriads",
    ),
    Kind("large number", numbers.LARGE, numbers.ways_to_write_large, _LARGE),
    Kind("year", numbers.NUMBER, numbers.ways_to_write, _IN_DIGITS, before="年"),
    Kind("code number", numbers.NUMBER, after=numbers.BEFORE_CODE),
    Kind("number of a room", numbers.NUMBER, before=numbers.AFTER_CODE),
    Kind("number", numbers.NUMBER, numbers.ways_to_write, _WITH_COMMAS),
)
MARKS = tuple(dict.fromkeys(kind.mark for kind in KINDS if kind.mark))
# Regular expression of what a translation copies.
COPIED = "|".join(kind.pattern for kind in _COPIED)


def copied_spans(text: str) -> list[str]:
    """Spans of a text that a translation copies, in their order.

    >>> copied_spans("{name}さん、https://example.com/a を見てください。")
    ['{name}', 'https://example.com/a']
    """
    return re.findall(COPIED, text, re.ASCII)


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
        Kind("word", f"{word}(?:[.]? {word})*", _ways_to_write_word),
    )


def _ways_to_write_word(span: str) -> str:
    """Regular expression of a word, whose plural may stand in the translation."""
    if not span.isascii() or not span[-1].isalpha():
        return numbers.whole(span)
    return rf"(?<![0-9A-Za-z.,]){re.escape(span)}(?=(?:['’]?s)?(?![0-9A-Za-z]))"
