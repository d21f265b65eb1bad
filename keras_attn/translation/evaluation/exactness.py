"""Accuracy of what a translation must carry over exactly: numbers, and text to be copied."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from keras_attn.translation.text.kinds import copied_spans

# Number words that count as digits, except `one`, which is more often a pronoun than a number.
_NAMES = "two three four five six seven eight nine ten eleven twelve".split()
_WORDS = {word: Decimal(value) for value, word in enumerate(_NAMES, start=2)}
# The second word of `twenty-two` is not a number of its own.
_NUMBER_WORD = re.compile(rf"(?<![\w-])(?:one|{'|'.join(_WORDS)})(?!\w)", re.IGNORECASE)
# Digits with commas between thousands, or without; then decimals.
_FULL_HOUR = re.compile(r"(?<=\d):00(?!\d)")
_DIGITS = re.compile(r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?")


def count(number: int, noun: str) -> str:
    """Number with a noun in the singular or plural."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


class Share(NamedTuple):
    """Number of sentences that have something to carry over, and how many of them are right."""

    right: int
    sentences: int

    def __str__(self) -> str:
        """Percentage and number of sentences, for reports."""
        percentage = f"{100 * self.right / self.sentences:.1f}%" if self.sentences else "n/a"
        return f"{percentage} ({count(self.sentences, 'sentence')})"


class Exactness(NamedTuple):
    """Accuracy of numbers, in sentences with digits in a reference, and of text to be copied."""

    numbers: Share  # right with the same numbers as one reference (`same_numbers`)
    copies: Share  # right with all of the text to be copied unchanged (`holds_copies`)


def exactness(
    sources: Sequence[str], translations: Sequence[str], references: Sequence[Sequence[str]]
) -> Exactness:
    """Number accuracy and copy accuracy of translations, with one or more references each."""
    rows = list(zip(sources, translations, references, strict=True))
    numbers = [
        any(same_numbers(translation, text) for text in known)
        for _, translation, known in rows
        if any(map(_DIGITS.search, known))
    ]
    copies = [holds_copies(source, text) for source, text, _ in rows if copied_spans(source)]
    return Exactness(Share(sum(numbers), len(numbers)), Share(sum(copies), len(copies)))


def same_numbers(text: str, other: str) -> bool:
    """Whether two texts hold the same numbers, in any order, each as often.

    Numbers are compared by value: `1,900` is `1900`. `10:30` holds 10 and 30, `5:00` holds 5, and
    `28th` holds 28. The words `two` to `twelve` are numbers; `one` may stand for 1 or for none.

    >>> same_numbers("Two tickets cost 1,900 yen.", "The 2 tickets cost 1900 yen.")
    True
    >>> same_numbers("at 10:30", "at 10:03")
    False
    """
    (numbers, ones), (other_numbers, other_ones) = _numbers(text), _numbers(other)
    # Each text holds the number 1 as often as in digits, or up to once more for each word `one`.
    num_1, other_1 = numbers.pop(Decimal(1), 0), other_numbers.pop(Decimal(1), 0)
    return numbers == other_numbers and num_1 <= other_1 + other_ones and other_1 <= num_1 + ones


def holds_copies(source: str, translation: str) -> bool:
    """Whether a translation holds all text of the source that a translation copies, each as often.

    >>> holds_copies("{name}さん、<b>ようこそ</b>", "<b>Welcome</b>, {name}")
    True
    """
    return not Counter(copied_spans(source)) - Counter(copied_spans(translation))


def _numbers(text: str) -> tuple[Counter[Decimal], int]:
    """Numbers in a text other than the word `one`, and how often it holds that word."""
    text = _FULL_HOUR.sub("", unicodedata.normalize("NFKC", text))
    words = [match.lower() for match in _NUMBER_WORD.findall(text)]
    digits = [Decimal(match.replace(",", "")) for match in _DIGITS.findall(text)]
    return Counter([*digits, *(_WORDS[w] for w in words if w != "one")]), words.count("one")
