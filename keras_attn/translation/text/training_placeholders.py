"""Placeholders in training pairs: the model learns to carry to its place what it must copy."""

from __future__ import annotations

import functools
import re
from collections import Counter

import numpy as np

from keras_attn.translation.text import names
from keras_attn.translation.text.numbers import whole
from keras_attn.translation.text.placeholders import PLACEHOLDERS, Kind, find, kinds_of

# Probability of a placeholder for a name or for a word that is written alike on both sides. Without
# them, the model would know placeholders only where a corpus has addresses, numbers and dates.
SHARE = 0.15

_WORD = "[A-Z][0-9A-Za-z]+"
_ORDINAL = re.compile("^(?:st|nd|rd)\\b")


@functools.cache
def _kinds(source: str, target: str) -> tuple[Kind, ...]:
    """Kinds of spans in training pairs; the last is names and words."""
    translations = names.translations(source, target)
    longest_first = sorted(map(re.escape, translations), key=len, reverse=True)

    def translation(span: str) -> str:
        return whole(translations.get(span, span))

    return *kinds_of(target), Kind("name", "|".join((*longest_first, _WORD)), translation)


def mask_pair(
    source: str, target: str, languages: tuple[str, str], random: np.random.Generator
) -> tuple[str, str]:
    """Put placeholders in the place of what both sides of a pair hold once.

    Spans that a translation copies, numbers and dates are always masked; names, and words with a
    capital letter that are written alike on both sides, with probability `SHARE`.

    Args:
        source: Sentence.
        target: Its translation.
        languages: Language codes of both sides. Names are known in Japanese and English.
        random: Random generator.

    Example:

    >>> pair = ("{name}さん、おはよう。", "Good morning, {name}.")
    >>> source, target = mask_pair(*pair, ("ja", "en"), np.random.default_rng(0))
    >>> source[0] in PLACEHOLDERS, source[0] == target[-2], source[1:]
    (True, True, 'さん、おはよう。')
    """
    left: list[str] | None = None  # in random order, drawn for pairs with a span only
    kinds = _kinds(*languages)
    spans = list(find(source, kinds))
    counts = Counter(span[0] for span, _ in spans)
    for span, kind in reversed(spans):
        if kind.ways is None or span[0] in PLACEHOLDERS:
            continue
        if kind is kinds[-1] and random.random() >= SHARE:
            continue
        found = list(re.finditer(kind.ways(span[0]), target))
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
