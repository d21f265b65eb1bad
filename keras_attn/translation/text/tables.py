"""Tables of words, patterns and rules: files of this package with a header and columns."""

import csv
import re
from functools import cache
from importlib import resources

from keras_attn.languages import SCRIPTS
from keras_attn.translation.text.characters import Replacements


def read_table(name: str) -> list[dict[str, str]]:
    lines = (resources.files(__package__) / name).read_text("utf-8").splitlines()
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_rules(name: str) -> Replacements:
    """Replacements of `rules.tsv`, in their order; what follows `name:` is their purpose.

    A space stands before a digit that is not part of the number of a group, and is removed later.
    """
    rows = (row for row in read_table("rules.tsv") if row["rules"].split(":")[0] == name)
    return tuple((_expanded(row["pattern"]), _expanded(row["replacement"])) for row in rows)


@cache
def read_pattern(name: str) -> str:
    """Regular expression for Python and RE2 alike, by its name in `patterns.tsv`.

    The name of a script stands for its letters, the name of rules for any pattern of theirs, and
    "copied" for any of what a translation copies.
    """
    if name in SCRIPTS:
        return SCRIPTS[name]
    if name == "copied":
        return "|".join(map(read_pattern, COPIED))
    if name in _PATTERNS:
        return _expanded(_PATTERNS[name])
    if rules := read_rules(name):
        return "|".join(pattern for pattern, _ in rules)
    raise KeyError(name)


def _expanded(text: str) -> str:
    r"""Text with characters for \u200d, and with patterns for ⟨their names⟩."""
    text = re.sub(r"\\u[0-9a-f]{4}|\\U[0-9a-f]{8}", lambda x: chr(int(x[0][2:], 16)), text)
    return re.sub("⟨(.*?)⟩", lambda name: read_pattern(name[1]), text)


_ROWS = read_table("patterns.tsv")
_PATTERNS = {row["name"]: row["pattern"] for row in _ROWS}
# Names of the patterns of what a translation copies.
COPIED = [row["name"] for row in _ROWS if row["use"] == "copied"]
