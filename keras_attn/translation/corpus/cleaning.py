"""Cleaning of sentence pairs: text normalisation, filters, and counts of the pairs left out."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import median
from typing import NamedTuple

from keras_attn.languages import read_language
from keras_attn.translation.corpus.pairs import Entry, Pair
from keras_attn.translation.text.characters import unify

# Reasons to drop a pair, in the order in which `clean` checks them.
REASONS = ("empty", "too_long", "equal_sides", "wrong_script", "duplicate", "odd_lengths")

# Maximum length of a side, in characters after normalisation. Longer lines are paragraphs; the
# models are trained on sentences.
MAX_CHARACTERS = 500

# A pair is dropped if its length ratio is more than this factor above or below the median ratio of
# the corpus. Pairs with fewer than `MIN_CHARACTERS_TO_COMPARE` characters on both sides are kept,
# because length ratios of short sentences vary widely.
MAX_LENGTH_RATIO = 4.0
MIN_CHARACTERS_TO_COMPARE = 30

# Smallest share of a side's letters that must belong to the script of the language. The share is
# low for scripts other than Latin: their texts hold names and terms in Latin letters, and one of
# their own letters may stand for a syllable or a word.
_MIN_SHARE_OF_LATIN = 0.5
_MIN_SHARE_OF_OTHERS = 0.1


class Cleaned(NamedTuple):
    """Entries that passed every filter, normalised, and the number of those dropped, by reason."""

    entries: list[Entry]
    dropped: dict[str, int]


def clean_text(text: str) -> str:
    """Normalise text as the tokenizers do: NFKC, single spaces, no invisible characters.

    >>> clean_text("  Ｆｕｌｌ\\u3000width\\t１２ \\n")
    'Full width 12'
    """
    return " ".join(unicodedata.normalize("NFKC", unify(text)).split())


def has_wrong_script(text: str, language: str) -> bool:
    """Whether a text has letters, and too few of them belong to the scripts of its language."""
    row = read_language(language)
    if not row.scripts or (row.is_latin and text.isascii()):
        return False
    min_share = _MIN_SHARE_OF_LATIN if row.is_latin else _MIN_SHARE_OF_OTHERS
    return any(map(str.isalpha, text)) and share_of_script(text, language) < min_share


def has_wrong_side(pair: Pair, source_language: str, target_language: str) -> bool:
    """Whether one of the sides has the wrong script."""
    return any(map(has_wrong_script, pair, (source_language, target_language)))


def share_of_script(text: str, language: str) -> float:
    """Share of the letters of a text that belong to the script of a language.

    >>> [share_of_script("これはtext", language) for language in ("ja", "en")]
    [0.42857142857142855, 0.5714285714285714]
    """
    num_letters = sum(map(str.isalpha, text))
    of_script = sum(map(len, _of_script(language).findall(text)))
    return min(of_script / max(num_letters, 1), 1.0)


@cache
def _of_script(language: str) -> re.Pattern:
    """Letters in a row of the script of a language; nothing if its scripts are not known."""
    letters = read_language(language).letters
    return re.compile(f"[{letters}]+" if letters else "(?!)")


def wrong_script_message(pairs: Sequence[Pair], source_language: str, target_language: str) -> str:
    """Sentences about pairs of which most have a side in a wrong script; empty without a fault.

    >>> wrong_script_message([Pair("A river.", "川。")], "ja", "en")[:26]
    'The columns look swapped: '
    """
    filled = [pair for pair in pairs if any(pair)]

    def are_wrong(source: str, target: str) -> bool:
        return 2 * sum(has_wrong_side(pair, source, target) for pair in filled) > len(filled)

    expected = f"`{source_language}` TAB `{target_language}`"
    if not are_wrong(source_language, target_language):
        return ""
    if are_wrong(target_language, source_language):
        return f"Most lines are not in the scripts of {expected}. Check the file and the languages."
    return (
        f"The columns look swapped: they must be {expected}. Exchange them, or train with "
        f"--source {target_language} --target {source_language}."
    )


def clean(entries: Iterable[Entry], source_language: str, target_language: str) -> Cleaned:
    """Normalise both sides of each pair and drop unusable pairs.

    A pair counts once, for the first reason of `REASONS` that applies. A pair that is there several
    times has the largest of its weights.
    """
    kept: dict[Pair, Entry] = {}
    dropped = dict.fromkeys(REASONS, 0)
    for entry in entries:
        pair = Pair(*map(clean_text, entry.pair))
        if not all(pair):
            dropped["empty"] += 1
        elif max(map(len, pair)) > MAX_CHARACTERS:
            dropped["too_long"] += 1
        elif pair.source == pair.target:
            dropped["equal_sides"] += 1
        elif has_wrong_side(pair, source_language, target_language):
            dropped["wrong_script"] += 1
        elif first := kept.get(pair):
            dropped["duplicate"] += 1
            kept[pair] = first._replace(weight=max(first.weight, entry.weight))
        else:
            kept[pair] = entry._replace(pair=pair)
    ratios = {pair: len(pair.target) / len(pair.source) for pair in kept}
    median_ratio = median(ratios.values()) if kept else 1.0
    usual = [
        entry
        for pair, entry in kept.items()
        if max(map(len, pair)) < MIN_CHARACTERS_TO_COMPARE
        or 1 / MAX_LENGTH_RATIO <= ratios[pair] / median_ratio <= MAX_LENGTH_RATIO
    ]
    dropped["odd_lengths"] = len(kept) - len(usual)
    return Cleaned(usual, dropped)
