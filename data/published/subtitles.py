"""Subtitles as sentences: without dashes of speakers, notes of songs, sounds and tags."""

import re

# (laughs), [door opens], （ドアの音）, tags of the players, notes.
_ASIDES = re.compile(r"\([^()]*\)|\[[^][]*\]|（[^（）]*）|<[^<>]*>|\{[^{}]*\}|[♪♫♬♩]+")

# A dash before what a speaker says; a minus stands before a digit.
_DASH = re.compile(r"(^|[.!?…。！？\"”」])\s*[-–—－―]+(?![\d０-９])\s*")

_FIRST_LETTER = re.compile(r"((?:^|[.!?]\s)[\"'“‘(]*)([a-z])")
_I = re.compile(r"(?<![\w'’.-])i(?![\w-])")


def mend(text: str, language: str) -> str:
    """Sentence without the notes and marks of subtitles; may be empty.

    >>> mend("- Yes. - (laughs) No! ♪", "en"), mend("－はい （笑）", "ja")
    ('Yes. No!', 'はい')
    """
    del language
    text = " ".join(_ASIDES.sub(" ", text).split())
    return _DASH.sub(lambda match: f"{match[1]} " if match[1] else "", text).strip()


def mend_lower_case(text: str, language: str) -> str:
    """`mend`, and in English without any capital those that begin a sentence and of `I`.

    Names stay in lower case.

    >>> mend_lower_case("- i'm here. where are you, harold?", "en")
    "I'm here. Where are you, harold?"
    """
    text = mend(text, language)
    if language != "en" or text != text.lower():
        return text
    return _FIRST_LETTER.sub(lambda match: match[1] + match[2].upper(), _I.sub("I", text))
