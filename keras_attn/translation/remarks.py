"""Remarks on translations, for the person at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keras_attn.languages import read_language

if TYPE_CHECKING:
    from keras_attn.translation.export.translator import Hypothesis

MAX_NUMBERS = 20


class Remarks:
    """Numbers of texts in another language and, if wanted, of uncertain translations.

    Texts are counted by the `noun`, such as `"line"`.
    """

    def __init__(self, source: str, noun: str, has_uncertain: bool):
        self._language = read_language(source).name
        self._noun = noun
        self._has_uncertain = has_uncertain
        self._count = 0
        self._others: list[int] = []
        self._uncertain: list[int] = []

    def note(self, best: Sequence[Hypothesis]) -> None:
        """Note the best translations of the next texts."""
        for number, hypothesis in enumerate(best, self._count + 1):
            if hypothesis.is_other_language:
                self._others.append(number)
            elif hypothesis.is_uncertain and self._has_uncertain:
                self._uncertain.append(number)
        self._count += len(best)

    def write(self) -> None:
        """Write a sentence of each kind to standard error, for the texts since the last call."""
        are = "is" if len(self._others) == 1 else "are"
        have = "has" if len(self._uncertain) == 1 else "have"
        self._write(self._others, f"{are} not in {self._language} and {are} returned as given")
        self._write(self._uncertain, f"{have} an uncertain translation")
        self._others, self._uncertain = [], []

    def _write(self, numbers: list[int], predicate: str) -> None:
        if not numbers:
            return
        noun = self._noun if len(numbers) == 1 else f"{self._noun}s"
        listed = ", ".join(map(str, numbers[:MAX_NUMBERS]))
        end = ", ..." if len(numbers) > MAX_NUMBERS else "."
        print(f"{len(numbers):,} {noun} {predicate}: {listed}{end}", file=sys.stderr)
