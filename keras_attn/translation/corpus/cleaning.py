"""Cleaning of sentence pairs: what training and evaluation see, and why a pair was left out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import compress
from statistics import median
from typing import NamedTuple


class Pair(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str


class Cleaned(NamedTuple):
    """Pairs that `clean` keeps, and counts of the others.

    `positions[i]` is the place of `pairs[i]` in the input; `dropped` counts the other pairs by
    the reason that applied first, in the order in which the reasons are looked for.
    """

    pairs: list[Pair]
    positions: list[int]
    dropped: dict[str, int]


# In the order in which they are looked for.
REASONS = ("empty", "too_long", "equal_sides", "wrong_script", "duplicate", "odd_lengths")

# A side this many times longer, or shorter, than the other one lets expect is no translation of
# it. Below so many characters anything may be: "Yes." is a word here and a sentence there.
MAX_LENGTH_RATIO = 4.0
MIN_CHARACTERS_TO_COMPARE = 30

# Control characters and zero-width spaces part words, the other invisible ones (soft hyphen, byte
# order mark, marks of writing direction) do not. The joiners that emoji and some scripts need stay.
_PARTING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b]")
_INVISIBLE = re.compile("[\u00ad\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")

# Least share of a side's letters that are of the language's script. Names and terms stand in Latin
# letters inside any other script, where moreover one letter may be a syllable or a word.
_MIN_SHARE_OF_LATIN = 0.5
_MIN_SHARE_OF_OTHERS = 0.1

# First words of the Unicode names of a language's letters; a language that is not here is not
# checked.
_CYRILLIC = frozenset({"CYRILLIC"})
_HAN = frozenset({"CJK", "IDEOGRAPHIC"})
_LATIN = frozenset({"LATIN"})
_SCRIPTS = {
    "ar": frozenset({"ARABIC"}),
    "el": frozenset({"GREEK"}),
    "he": frozenset({"HEBREW"}),
    "hi": frozenset({"DEVANAGARI"}),
    "ja": _HAN | {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    "ko": frozenset({"HANGUL"}) | _HAN,
    "th": frozenset({"THAI"}),
    "zh": _HAN,
    **dict.fromkeys(("bg", "ru", "uk"), _CYRILLIC),
    **dict.fromkeys(("cs", "da", "de", "en", "es", "fi", "fr", "hu", "id", "it"), _LATIN),
    **dict.fromkeys(("nl", "no", "pl", "pt", "ro", "sv", "tr", "vi"), _LATIN),
}


def clean_text(text: str) -> str:
    """NFKC, one space for any run of white space or control characters, none at the ends.

    Example:

    >>> clean_text("  Ｆｕｌｌ\\u3000width\\t１２ \\n")
    'Full width 12'
    """
    text = _INVISIBLE.sub("", _PARTING.sub(" ", text))
    return " ".join(unicodedata.normalize("NFKC", text).split())


def has_wrong_script(text: str, language: str) -> bool:
    """Whether too few of the letters are of the language's script.

    Text without letters and languages without an entry in the table always pass.
    """
    scripts = _SCRIPTS.get(re.split("[-_]", language.lower())[0])
    if scripts is None or (scripts is _LATIN and text.isascii()):
        return False
    found = [_script(character) for character in text if character.isalpha()]
    min_share = _MIN_SHARE_OF_LATIN if scripts is _LATIN else _MIN_SHARE_OF_OTHERS
    return sum(script in scripts for script in found) < min_share * len(found)


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "").split(" ")[0]


def clean(
    pairs: Iterable[Pair], source_language: str, target_language: str, max_characters: int
) -> Cleaned:
    """Normalises both sides of each pair and leaves out the pairs that teach nothing.

    Args:
        pairs: Pairs as read.
        source_language: Language code, for the check of the script.
        target_language: Language code, for the check of the script.
        max_characters: Longest side in characters after normalisation.
    """
    kept: list[Pair] = []
    positions: list[int] = []
    dropped = dict.fromkeys(REASONS, 0)
    seen: set[Pair] = set()
    for position, raw in enumerate(pairs):
        pair = Pair(clean_text(raw.source), clean_text(raw.target))
        if not pair.source or not pair.target:
            dropped["empty"] += 1
        elif max(len(pair.source), len(pair.target)) > max_characters:
            dropped["too_long"] += 1
        elif pair.source == pair.target:
            dropped["equal_sides"] += 1
        elif has_wrong_script(pair.source, source_language) or has_wrong_script(
            pair.target, target_language
        ):
            dropped["wrong_script"] += 1
        elif pair in seen:
            dropped["duplicate"] += 1
        else:
            seen.add(pair)
            kept.append(pair)
            positions.append(position)
    fitting = [not is_odd for is_odd in _have_odd_lengths(kept)]
    dropped["odd_lengths"] = fitting.count(False)
    return Cleaned(list(compress(kept, fitting)), list(compress(positions, fitting)), dropped)


def _have_odd_lengths(pairs: list[Pair]) -> list[bool]:
    """Flag pairs whose length ratio is far from the median ratio of all pairs."""
    ratios = [len(pair.target) / len(pair.source) for pair in pairs]
    usual = median(ratios) if ratios else 1.0
    return [
        max(map(len, pair)) >= MIN_CHARACTERS_TO_COMPARE
        and not 1 / MAX_LENGTH_RATIO <= ratio / usual <= MAX_LENGTH_RATIO
        for pair, ratio in zip(pairs, ratios, strict=True)
    ]
