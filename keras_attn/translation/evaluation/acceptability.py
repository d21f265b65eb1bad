"""Acceptability of translations: what an answer must hold, and must not, by hand-written checks.

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
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

MARKS = ("==", "!=", "^=", "=", "!")
DEVELOPMENT, RELEASE = "development", "release"  # the halves of `in_the_wild.tsv`

_ACCENTS = "[\u0300-\u036f]"
_JAPANESE = "぀-ヿ一-鿿々〆"
_NUMERALS = "一二三四五六七八九十百千"
_CONTRACTIONS = (
    (r"\bwon't\b", "will not"),
    (r"\bcan(?:'t|not)\b", "can not"),
    (r"\bshan't\b", "shall not"),
    (r"n't\b", " not"),
    (r"'m\b", " am"),
    (r"'re\b", " are"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"'d\b", " would"),
    (r"\b(it|he|she|that|there|here|this|what|who|where|when|how)'s\b", r"\1 is"),
    (r"\blet's\b", "lets"),
)
_FIGURES = (
    (r"(?<=\d),(?=\d{3})", ""),  # 1,200
    (r"(?<![a-z\d.])[-−](?=\d)", " minus "),  # -10
    (r"(?<=\d):00(?!\d)", ""),  # 8:00
    (r"(?<=\d) ?([ap])\.?m\b\.?", r" \1.m."),  # 5pm
    (r"\b(?![ap]\.m\.)(?:[a-z]\.){2,}", lambda found: found[0].replace(".", "")),  # u.s.
)
_WORD = re.compile(
    rf"(?:\d+(?:[.:/]\d+)+|[ap]\.m\.|[{_JAPANESE}]+|(?:(?![{_JAPANESE}])[^\W_])+|[$¥€£%°])\*?"
)


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


def is_acceptable(translation: str, checks: str, source: str = "") -> bool:
    """Whether a translation passes all groups of its checks.

    >>> is_acceptable("I didn't go anywhere, it was raining.", "rain* ; not | nowhere ; go | went")
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


def acceptable(translations: Sequence[str], rows: Sequence[Row]) -> list[bool]:
    """Whether the translation of each row is acceptable."""
    return [
        is_acceptable(text, row.checks, row.source)
        for text, row in zip(translations, rows, strict=True)
    ]


@lru_cache(maxsize=4096)
def _parsed(checks: str) -> list[tuple[str, tuple[str, ...]]]:
    """Mark and alternatives of each group."""
    groups = []
    for group in map(str.strip, checks.split(" ; ")):
        mark = next((one for one in MARKS if group.startswith(one)), "")
        groups.append((mark, tuple(map(str.strip, group[len(mark) :].split(" | ")))))
    return groups


@lru_cache(maxsize=8192)
def normalised(text: str) -> str:
    """Words in lower case with contractions and figures spelled out, without punctuation.

    >>> normalised("I can’t pay $1,200 by 5PM; it's Tom's.")
    'i can not pay $ 1200 by 5 p.m. it is tom s'
    """
    text = re.sub(_ACCENTS, "", unicodedata.normalize("NFD", text))
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("⁄", "/")
    for pattern, replacement in (*_CONTRACTIONS, *_FIGURES):
        text = re.sub(pattern, replacement, text)
    return " ".join(_WORD.findall(text))


def _holds(text: str, alternative: str) -> bool:
    words = normalised(alternative)
    if re.search(f"[{_JAPANESE}]", words):
        words = words.replace(" ", "")
        before = rf"(?<![.\d{_NUMERALS}])" if re.match(rf"[\d{_NUMERALS}]", words) else ""
        return bool(re.search(before + re.escape(words), text.replace(" ", "")))
    if "*" not in words:
        return f" {words} " in f" {text} "
    pattern = re.escape(words).replace(r"\*", r"\S*")
    return bool(re.search(rf"(?<!\S){pattern}(?!\S)", text))
