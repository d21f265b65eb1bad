"""Example sentences of a version, which the model translates well, for page and model card."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from keras_attn.languages import code_of
from keras_attn.translation.text.comparison import normalised

FILE = "examples.json"
NUM_EXAMPLES = 6

# Rows of source language, target language, sentence, and the translations that a reader of both
# languages accepts. The most inviting sentences come first.
_SENTENCES = Path(__file__).with_suffix(".tsv")


class SentenceExample(NamedTuple):
    """Sentence with its translation by an exported model."""

    source: str
    translation: str


def choose(
    translate: Callable[[list[str]], Sequence[str]],
    source: str,
    target: str,
    num_pieces: Callable[[str], int] = lambda translation: 0,
) -> list[SentenceExample]:
    """The first `NUM_EXAMPLES` sentences that a model translates as a reader accepts.

    With `num_pieces`, sentences with a translation whose words are whole pieces come first. None
    are returned for languages without a written list.

    >>> choose(lambda texts: ["How much's this"] * len(texts), "ja", "en")
    []
    >>> choose(lambda texts: ["What time is it now?"] * len(texts), "ja", "en")
    [SentenceExample(source='今、何時ですか。', translation='What time is it now?')]
    """
    languages = [code_of(source), code_of(target)]
    rows = [line.split("\t") for line in _SENTENCES.read_text(encoding="utf-8").splitlines()]
    accepted = {row[2]: row[3:] for row in rows if row[:2] == languages}
    if not accepted:
        return []
    found = map(SentenceExample, accepted, translate(list(accepted)))
    good = [
        one for one in found if normalised(one.translation) in map(normalised, accepted[one.source])
    ]

    def has_divided_word(example: SentenceExample) -> bool:
        words_and_marks = re.findall(r"\w+|[^\w\s]", example.translation)
        return num_pieces(example.translation) > len(words_and_marks)

    return sorted(good, key=has_divided_word)[:NUM_EXAMPLES]


def write(folder: Path, examples: Sequence[SentenceExample]) -> None:
    """Write examples to `FILE` in a folder."""
    text = json.dumps([example._asdict() for example in examples], ensure_ascii=False, indent=2)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def read(folder: Path) -> list[SentenceExample]:
    """Read the examples that `write` wrote to a folder; none if there is no file."""
    path = folder / FILE
    record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return [SentenceExample(**example) for example in record]
