"""Placeholders in training pairs: the model learns to carry to its place what it must copy."""

import functools
import re
from collections import Counter
from collections.abc import Callable

import numpy as np

from keras_attn.languages import code_of
from keras_attn.translation.text.kinds import Kind, Kinds, kinds_of
from keras_attn.translation.text.numbers import whole
from keras_attn.translation.text.placeholders import PLACEHOLDERS, find
from keras_attn.translation.text.tables import read_table
from keras_attn.translation.text.typed import plain

# Probability of a placeholder for a name or for a word that is written alike on both sides. Without
# them, the model would know placeholders only where a corpus has addresses, numbers and dates.
SHARE = 0.15

# Names in Japanese and English, which training pairs hold as users hold a glossary.
_IN_ENGLISH = {row["ja"]: row["en"] for row in read_table("glossary.tsv")}
_TRANSLATIONS = {
    ("ja", "en"): _IN_ENGLISH,
    ("en", "ja"): {english: japanese for japanese, english in _IN_ENGLISH.items()},
}
_WORD = "[A-Z][0-9A-Za-z]+"
_ORDINAL = re.compile("^(?:st|nd|rd)\\b")


@functools.lru_cache(maxsize=65_536)  # most spans occur again
def _ways(ways: Callable[[str], str], span: str) -> re.Pattern:
    return re.compile(ways(span))


@functools.cache
def _kinds(source: str, target: str) -> Kinds:
    """Kinds of spans in training pairs; the last is names and words."""
    translations = _TRANSLATIONS.get((code_of(source), code_of(target)), {})
    longest_first = sorted(map(re.escape, translations), key=len, reverse=True)

    def translation(span: str) -> str:
        return whole(translations.get(span, span))

    names = Kind("name", "|".join((*longest_first, _WORD)), translation, values=translations)
    names = names._replace(
        first="A-Z" + "".join(sorted({re.escape(name[0]) for name in translations}))
    )
    return Kinds((*kinds_of(source, target), names))


def mask_pair(
    source: str, target: str, languages: tuple[str, str], random: np.random.Generator
) -> tuple[str, str]:
    """Put placeholders in the place of what both sides of a pair hold once, with a plain source.

    Spans of `KINDS` are always masked; other names, and words with a capital letter that are
    written alike on both sides, with probability `SHARE`.

    >>> pair = ("{name}さん、おはよう。", "Good morning, {name}.")
    >>> source, target = mask_pair(*pair, ("ja", "en"), np.random.default_rng(0))
    >>> source[0] in PLACEHOLDERS, source[0] == target[-2], source[1:]
    (True, True, 'さん、おはよう。')
    """
    source = plain(source, languages[0])
    left: list[str] | None = None  # in random order, drawn for pairs with a span only
    kinds = _kinds(*languages)
    spans = list(find(source, kinds))
    if not spans:
        return source, target
    counts = Counter(span[0] for span, _ in spans)
    for span, kind in reversed(spans):
        is_left = kind.ways is None or span[0] in PLACEHOLDERS
        if is_left or (kind is kinds[-1] and random.random() >= SHARE):
            continue
        found = list(_ways(kind.ways, span[0]).finditer(target))
        if counts[span[0]] > 1 or len(found) != 1:
            continue
        if left is None:
            left = [PLACEHOLDERS[i] for i in random.permutation(len(PLACEHOLDERS))]
        if not left:
            break
        placeholder = left.pop()
        source = source[: span.start()] + placeholder + kind.mark + source[span.end() :]
        start, end = found[0].span()
        # The period after "p.m" also ends the sentence.
        end -= bool(kind.mark) and end == len(target) and target.endswith(".")
        # The exported model writes the ending of the number that takes the place.
        target = target[:start] + placeholder + _ORDINAL.sub("th", target[end:], count=1)
    return source, target
