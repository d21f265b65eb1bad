"""Japanese text in kana: each kanji gets its most likely reading."""

import re
from collections import defaultdict
from collections.abc import Mapping

from keras_attn.translation.text.kinds import MARKS
from keras_attn.translation.text.placeholders import PLACEHOLDERS
from keras_attn.translation.text.tables import read_table


def _words(use: str) -> dict[str, str]:
    return {row["written"]: row["kana"] for row in read_table("kana.tsv") if row["use"] == use}


# Kana of the kanji of frequent words. A stem stands for all its inflections.
KANA_OF_KANJI = _words("word")
# The same for whole texts, where each word must be read.
_READINGS = KANA_OF_KANJI | _words("text")
# Readings of a kanji after digits, at the end of a longer word, and before another word.
_AFTER_NUMBERS, _AFTER_WORDS = _words("after number"), _words("after word")
_BEFORE_WORDS = _words("before word")
# Words that are read by what stands around them: regular expressions, the first that fits counts.
_KANA_IN_CONTEXT = _words("context")
_IN_CONTEXT = re.compile("|".join(f"({pattern})" for pattern in _KANA_IN_CONTEXT))
_KANJI = re.compile("[々一-鿿]")
# What follows one of these is a counter, or a part of a longer word.
_NUMBER = frozenset("0123456789").union(PLACEHOLDERS)
_PART = re.compile("[々一-鿿ァ-ヺーA-Za-z]")
# Kana at the beginning of particles, and of です, する and other words that follow nouns.
_AFTER_NOUNS = frozenset("はがをにでともかのへやよねなさしすせだらじくっぐ")
# 1人 and 2人 are words in which no sound stands for the digit alone.
_PERSONS = re.compile("(?:^|[^0-9])[12]人$")


class Kana:
    """Writer of kana, by readings of words and of beginnings of inflected forms.

    The longest form that fits is read. `readings` are further kana, by how they are written: those
    of `kana.tsv` are enough for few texts, but they take precedence.
    """

    def __init__(self, readings: Mapping[str, str] | None = None):
        self._readings = {**(readings or {}), **_READINGS}
        lengths = defaultdict(set)
        for form in self._readings:
            lengths[form[0]].add(len(form))
        self._lengths = {first: sorted(some, reverse=True) for first, some in lengths.items()}

    def write(self, text: str) -> str:
        """Text in kana; empty if the reading of a kanji is not known.

        Digits, placeholders with their marks, katakana and other letters remain.

        >>> Kana({"詩集": "ししゅう"}).write("今日3冊の詩集を読む。")
        'きょう3さつのししゅうをよむ。'
        """
        in_context = list(_KANA_IN_CONTEXT.values())
        text = _IN_CONTEXT.sub(lambda found: in_context[(found.lastindex or 0) - 1], text)
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
        if _PART.match(before) and kanji in _AFTER_WORDS:
            return _AFTER_WORDS[kanji]
        if _PART.match(before) or _KANJI.match(after):
            return _BEFORE_WORDS.get(kanji, "")
        return self._readings.get(kanji, "")


def _read_counter(text: str, start: int) -> tuple[str, int]:
    """Reading of what follows a number and its length; 0 if it is not known."""
    # Marks of placeholders remain: the model knows dates and times by them.
    for mark in MARKS if text[start - 1] in PLACEHOLDERS else ():
        if text.startswith(mark, start):
            return mark, len(mark)
    if _PERSONS.search(text[max(0, start - 2) : start + 1]):
        return "", 0
    for length in (3, 2, 1):
        if kana := _AFTER_NUMBERS.get(text[start : start + length]):
            return kana, length
    return "", 0
