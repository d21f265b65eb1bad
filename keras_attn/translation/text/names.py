"""Japanese names of people and places, and their English spelling."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from importlib import resources

from keras_attn.translation.text.numbers import whole

# A row that is a name before a title only has "title" in the column `only`.
_FILE = "names.tsv"
# Titles after names of people.
TITLE = (
    "さん|様|さま|君|くん|ちゃん|氏|先生|先輩|教授|博士|社長|部長|課長|係長|店長|監督|選手|議員|大臣|首相"
    "|知事|容疑者"
)

# Words that hold a name by chance.
NO_NAME = "登山[口形]|火山口|政府中|空港区|以上野|高知能|今季十勝"


@cache
def spellings() -> dict[str, str]:
    """English spelling of each name."""
    return {row["ja"]: row["en"] for row in _rows()}


@cache
def pattern() -> str:
    """Regular expression of all names, the longest of those that begin alike first."""
    return _any_of(spellings())


@cache
def pattern_without_title() -> str:
    """Regular expression of the names that need no title."""
    return _any_of(row["ja"] for row in _rows() if not row["only"])


def ways_to_write(name: str) -> str:
    """Regular expression of the ways to write a name in English.

    >>> bool(re.fullmatch(ways_to_write("東京"), "Tokyo"))
    True
    """
    return whole(spellings()[name])


@cache
def _rows() -> list[dict[str, str]]:
    lines = (resources.files(__package__) / _FILE).read_text("utf-8").splitlines()
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def _any_of(names: Iterable[str]) -> str:
    """Regular expression of any name, with equal first characters written once, for speed."""
    by_first = defaultdict(list)
    for name in names:
        by_first[name[0]].append(name[1:])
    return "|".join(
        first + "(?:" + "|".join(map(re.escape, sorted(rests, key=len, reverse=True))) + ")"
        for first, rests in by_first.items()
    )
