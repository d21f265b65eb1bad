"""Sentences that people type in eight situations: the wordings of each row of the tables here."""

from collections.abc import Iterator
from importlib import resources
from typing import Any

from keras_attn_data.everyday import grammar, templates
from keras_attn_data.everyday.grammar import Sentence
from keras_attn_data.everyday.lexicon import Draw

# Maximum number of wordings of a row.
NUM_WORDINGS = 4
_TRIES = 3 * NUM_WORDINGS


def examples() -> Iterator[tuple[int, dict[str, Any]]]:
    """All pairs as examples of TensorFlow Datasets, with their keys; the fields of `everyday`."""
    yield from enumerate(sentence._asdict() for sentence in grammar.unique(pairs()))


def pairs() -> Iterator[Sentence]:
    """Pairs of all rows, file by file; those of a row are one combination.

    Raises:
        ValueError: If a row does not have two columns, or its alternatives do not fit together.
    """
    folder = resources.files("keras_attn_data.situations")
    paths = (path for path in folder.iterdir() if path.name.endswith(".tsv"))
    for path in sorted(paths, key=lambda path: path.name):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield from wordings(line)


def wordings(line: str) -> Iterator[Sentence]:
    """Up to `NUM_WORDINGS` pairs of a row, drawn by its text: the same on every machine.

    >>> for sentence in wordings("(a=猫/犬)が好き。\\tI like (a=cats/dogs)."):
    ...     print(sentence.ja, sentence.en)
    猫が好き。 I like cats.
    犬が好き。 I like dogs.
    """
    ja, en = line.split("\t")
    row = templates.row(ja, ja, en, "-")
    draw = Draw(line)
    tries = _TRIES if "(" in ja else 1
    drawn = (
        templates.choose_alternatives(row.ja, row.en, "polite", draw.choose) for _ in range(tries)
    )
    for ja, en in list(dict.fromkeys(drawn))[:NUM_WORDINGS]:
        # An alternative that ends in "p.m." may be the end of the sentence.
        yield Sentence(ja, en.replace("m..", "m."), combination=row.ja, weight=1.0)
