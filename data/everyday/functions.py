"""Patterns that are functions and not yet rows of a table."""

from collections.abc import Callable

from keras_attn_data.everyday import (
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
