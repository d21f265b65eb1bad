"""Japanese text in kana: each kanji gets its most likely reading."""

import re
from collections.abc import Mapping

from keras_attn.translation.text.kana_words import (
    AFTER_NUMBERS,
    AFTER_WORDS,
    BEFORE_WORDS,
    IN_CONTEXT,
    READINGS,
)
from keras_attn.translation.text.kinds import KINDS
from keras_attn.translation.text.placeholders import PLACEHOLDERS

_KANJI = re.compile("[々一-鿿]")
# What follows one of these is a counter, or a part of a longer word.
_NUMBER = frozenset("0123456789").union(PLACEHOLDERS)
_PART = re.compile("[々一-鿿ァ-ヺーA-Za-z]")
# Kana at the beginning of particles, and of です, する and other words that follow nouns.
_AFTER_NOUNS = frozenset("はがをにでともかのへやよねなさしすせだらじくっぐ")
# Marks of placeholders. They remain: the model knows dates and times by them.
_MARKS = tuple(dict.fromkeys(kind.mark for kind in KINDS if kind.mark))
# 1人 and 2人 are words in which no sound stands for the digit alone.
_PERSONS = re.compile("(?:^|[^0-9])[12]人$")
_IN_CONTEXT = re.compile("|".join(f"({pattern})" for pattern in IN_CONTEXT))
_KANA_IN_CONTEXT = tuple(IN_CONTEXT.values())


class Kana:
    """Writer of kana, by readings of words and of beginnings of inflected forms.

    The longest form that fits is read. The readings of `kana_words` are enough for few texts.

    Args:
        readings: Further kana, by how they are written. A form of `kana_words` keeps its reading.
    """

    def __init__(self, readings: Mapping[str, str] | None = None):
        self._readings = {**(readings or {}), **READINGS}
        lengths: dict[str, set[int]] = {}
        for form in self._readings:
            lengths.setdefault(form[0], set()).add(len(form))
        self._lengths = {first: sorted(some, reverse=True) for first, some in lengths.items()}

    def write(self, text: str) -> str:
        """Text in kana; empty if the reading of a kanji is not known.

        Digits, placeholders with their marks, katakana and other letters remain.

        >>> Kana({"詩集": "ししゅう"}).write("今日3冊の詩集を読む。")
        'きょう3さつのししゅうをよむ。'
        """
        text = _IN_CONTEXT.sub(_kana_in_context, text)
        parts: list[str] = []
        end = 0
        while found := _KANJI.search(text, end):
            start = found.start()
            kana, length = self._read(text, start)
            if not length:
                return ""
            parts += text[end:start], kana
            end = start + length
        return "".join(parts) + text[end:]

    def _read(self, text: str, start: int) -> tuple[str, int]:
        """Reading of the word at `start` and its length; 0 if it is not known."""
        before = text[start - 1] if start else ""
        if before in _NUMBER:
            return _read_counter(text, start)
        if before in ("お", "ご"):
            for length in self._lengths.get(before, ()):
                if kana := self._readings.get(text[start - 1 : start - 1 + length]):
                    return kana[1:], length - 1
        for length in self._lengths.get(text[start], ()):
            word = text[start : start + length]
            if length > 1 and (kana := self._readings.get(word)):
                if not self._is_cut(text, start, start + length):
                    return kana, length
        kana = self._read_one(text[start], before, text[start + 1 : start + 2])
        return kana, len(kana[:1])

    def _is_cut(self, text: str, start: int, end: int) -> bool:
        """Whether kana after `end` belong to the last kanji: 朝 and 食べる rather than 朝食."""
        after = text[end : end + 1]
        return (
            "ぁ" <= after <= "ゖ"
            and after not in _AFTER_NOUNS
            and text[end - 1 : end + 1] in self._readings
            and text[start : end - 1] in self._readings
        )

    def _read_one(self, kanji: str, before: str, after: str) -> str:
        """Reading of a single kanji, which may be a part of a word; empty if it is not known."""
        if _PART.match(before) and kanji in AFTER_WORDS:
            return AFTER_WORDS[kanji]
        if _PART.match(before) or _KANJI.match(after):
            return BEFORE_WORDS.get(kanji, "")
        return self._readings.get(kanji, "")


def _kana_in_context(found: re.Match) -> str:
    return _KANA_IN_CONTEXT[(found.lastindex or 0) - 1]


def _read_counter(text: str, start: int) -> tuple[str, int]:
    """Reading of what follows a number and its length; 0 if it is not known."""
    for mark in _MARKS if text[start - 1] in PLACEHOLDERS else ():
        if text.startswith(mark, start):
            return mark, len(mark)
    if _PERSONS.search(text[max(0, start - 2) : start + 1]):
        return "", 0
    for length in (3, 2, 1):
        if kana := AFTER_NUMBERS.get(text[start : start + length]):
            return kana, length
    return "", 0
