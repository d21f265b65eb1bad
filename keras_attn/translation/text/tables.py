"""Tables of words: files of this package with a header, a row a word, and TABs between columns."""

import csv
from importlib import resources


def read_table(name: str) -> list[dict[str, str]]:
    lines = (resources.files(__package__) / name).read_text("utf-8").splitlines()
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
