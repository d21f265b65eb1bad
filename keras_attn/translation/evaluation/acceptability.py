"""Acceptability of translations: what an answer must hold, and must not, by hand-written checks.

Checks do not see whether the words stand in an order that makes sense. So an acceptable translation
is near a reference, too: readers who knew neither agreed with both together more often than with
the checks alone (benchmarks/results/translation.md).

Checks are groups separated by ` ; `, and a group is alternatives separated by ` | `:

- `rain* | wet`: the answer must hold one of the words or phrases; `*` stands for any ending.
- `! not | never`: it must hold none of them.
- `=text`: it must hold exactly this text; several of these groups must occur in the given order.
- `^=text`: it must begin with exactly this text.
- `!=text`: it must not hold exactly this text.
- `==`: it must be equal to the source.

Words and phrases are compared after `normalised`. Japanese alternatives may be parts of words.
"""

import csv
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from keras_attn.translation.evaluation import metrics
from keras_attn.translation.text.comparison import JAPANESE, normalised

MARKS = ("==", "!=", "^=", "=", "!")
DEVELOPMENT, RELEASE = "development", "release"  # the halves of `in_the_wild.tsv`

NEAR = 50.0  # chrF with words of a translation that is near a reference

_NUMERALS = "一二三四五六七八九十百千"


class Row(NamedTuple):
    """Text with its reference translations and the checks of an acceptable one."""

    split: str
    situation: str
    source: str
    reference_1: str
    reference_2: str  # may be empty
    checks: str
    direction: str = "ja-en"

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.reference_1, self.reference_2)))


def read(path: Path) -> list[Row]:
    """Rows of a file, whose columns are those of `Row`, below its header."""
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [Row(*row) for row in rows]


def passes(translation: str, checks: str, source: str = "") -> bool:
    """Whether a translation passes all groups of its checks.

    >>> passes("I didn't go anywhere, it was raining.", "rain* ; not | nowhere ; go | went")
    True
    """
    text, position = normalised(translation.replace("*", " ")), 0
    for mark, alternatives in _parsed(checks):
        if mark == "=":
            found = ((translation.find(one, position), one) for one in alternatives)
            ends = [start + len(one) for start, one in found if start >= 0]
            passed, position = bool(ends), min(ends, default=position)
        elif mark == "^=":
            passed = translation.startswith(alternatives)
        elif mark == "!=":
            passed = not any(one in translation for one in alternatives)
        elif mark == "==":
            passed = translation == source
        else:
            passed = any(_holds(text, one) for one in alternatives) != (mark == "!")
        if not passed:
            return False
    return True


def is_acceptable(translation: str, row: Row) -> bool:
    """Whether a translation passes its checks and is near one of its references."""
    if not passes(translation, row.checks, row.source):
        return False
    return metrics.sentence_chrf(translation, row.references, with_words=True) >= NEAR


@lru_cache(maxsize=4096)
def _parsed(checks: str) -> list[tuple[str, tuple[str, ...]]]:
    """Mark and alternatives of each group."""
    groups = []
    for group in map(str.strip, checks.split(" ; ")):
        mark = next((one for one in MARKS if group.startswith(one)), "")
        groups.append((mark, tuple(map(str.strip, group[len(mark) :].split(" | ")))))
    return groups


def _holds(text: str, alternative: str) -> bool:
    words = normalised(alternative)
    if re.search(f"[{JAPANESE}]", words):
        words = words.replace(" ", "")
        before = rf"(?<![.\d{_NUMERALS}])" if re.match(rf"[\d{_NUMERALS}]", words) else ""
        return bool(re.search(before + re.escape(words), text.replace(" ", "")))
    if "*" not in words:
        return f" {words} " in f" {text} "
    pattern = re.escape(words).replace(r"\*", r"\S*")
    return bool(re.search(rf"(?<!\S){pattern}(?!\S)", text))
