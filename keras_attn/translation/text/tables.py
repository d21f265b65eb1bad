"""Tables of words and of rules: files of this package with a header, and TABs between columns."""

import csv
from importlib import resources

from keras_attn.translation.text.characters import Replacements


def read_table(name: str) -> list[dict[str, str]]:
    lines = (resources.files(__package__) / name).read_text("utf-8").splitlines()
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_rules(name: str) -> Replacements:
    """Replacements of `rules.tsv`, in their order; what follows `name:` is their purpose.

    A space stands before a digit that is not part of the number of a group, and is removed later.
    """
    rows = (row for row in read_table("rules.tsv") if row["rules"].split(":")[0] == name)
    return tuple((row["pattern"], row["replacement"]) for row in rows)
