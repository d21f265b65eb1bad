"""Generation of all pairs of the corpus: each pattern is sampled until it reaches its share."""

import random
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from keras_attn_data.everyday import (
    english,
    patterns_answers,
    patterns_clock,
    patterns_comparison,
    patterns_conditions,
    patterns_copied,
    patterns_daily,
    patterns_description,
    patterns_existence,
    patterns_figures,
    patterns_giving,
    patterns_health,
    patterns_introductions,
    patterns_numbers,
    patterns_phrases,
    patterns_places,
    patterns_questions,
    patterns_relative,
    patterns_requests,
    patterns_self,
    patterns_sequence,
    patterns_service,
    patterns_speech,
    patterns_talk,
    patterns_wishes,
)
from keras_attn_data.everyday.drawing import Draw, Drawn

SEED = 20240401
SHARE = 570  # maximum number of pairs of a pattern
# A pattern is exhausted after this many samples in a row without a new sentence.
_PATIENCE = 1000

Pattern = Callable[[Draw], Drawn]

PATTERNS: dict[str, Pattern] = {
    function.__name__: function
    for module in (
        patterns_phrases,
        patterns_introductions,
        patterns_self,
        patterns_answers,
        patterns_places,
        patterns_service,
        patterns_health,
        patterns_talk,
        patterns_figures,
        patterns_clock,
        patterns_copied,
        patterns_daily,
        patterns_description,
        patterns_existence,
        patterns_comparison,
        patterns_numbers,
        patterns_wishes,
        patterns_giving,
        patterns_conditions,
        patterns_speech,
        patterns_relative,
        patterns_requests,
        patterns_sequence,
        patterns_questions,
    )
    for function in module.PATTERNS
}


# How often a pair of these patterns is shown in training, in place of once: nothing about a set
# phrase can be learnt from another, and they are the first that people type.
WEIGHTS = {
    **{function.__name__: 12.0 for function in patterns_phrases.PATTERNS},
    **{
        function.__name__: 3.0
        for module in (patterns_introductions, patterns_service, patterns_talk)
        for function in module.PATTERNS
    },
}


class Sentence(NamedTuple):
    """Sentence pair with its combination and weight.

    Args:
        ja: Japanese sentence.
        en: English sentence.
        combination: Pattern and content words, joined by "|". Equal for pairs that differ only in
            tense, politeness, negation, question or a time word.
        weight: How often training shows the pair, relative to others.
    """

    ja: str
    en: str
    combination: str
    weight: float


def examples() -> Iterator[tuple[int, dict[str, Any]]]:
    """All pairs as examples of TensorFlow Datasets, with their keys."""
    for key, sentence in enumerate(pairs()):
        yield key, sentence._asdict()


def pairs() -> Iterator[Sentence]:
    """All pairs, pattern by pattern, in a fixed order."""
    japanese_seen: set[str] = set()
    for name, pattern in PATTERNS.items():
        draw = Draw(random.Random(f"{SEED} {name}"))
        given = idle = 0
        while given < SHARE and idle < _PATIENCE:
            fresh = [s for s in _sentences(name, pattern(draw)) if s.ja not in japanese_seen]
            idle = 0 if fresh else idle + 1
            for sentence in fresh:
                if sentence.ja in japanese_seen:
                    continue
                japanese_seen.add(sentence.ja)
                given += 1
                yield sentence


def _sentences(name: str, drawn: Drawn) -> list[Sentence]:
    combination = "|".join((name, *drawn.words))
    return [
        Sentence(
            unicodedata.normalize("NFKC", ja),
            unicodedata.normalize("NFKC", en),
            combination,
            WEIGHTS.get(name, 1.0),
        )
        for ja, en in drawn.pairs
        if english.UNKNOWN_GENDER not in en
    ]
