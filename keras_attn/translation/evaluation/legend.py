"""Names of the numbers in a report, spelled out."""

from __future__ import annotations

SCORES = {
    "BLEU": "matching word sequences, from 0 to 100; ± is half of the 95% confidence interval",
    "chrF": "matching character sequences, from 0 to 100",
    "TER": "edits for each 100 words of the reference; 0 is best",
    "number accuracy": "sentences with digits in the reference whose translation has the same "
    "numbers",
    "copy accuracy": "sentences with URLs, addresses, placeholders or tags whose translation has "
    "all of them unchanged",
}
CORPUS = {
    "read": "pairs read",
    "broken": "left out: no TAB, or no valid UTF-8",
    "empty": "left out: a side is empty",
    "too_long": "left out: a side is longer than 500 characters",
    "equal_sides": "left out: both sides are equal",
    "wrong_script": "left out: a side is in the script of another language",
    "duplicate": "left out: the pair occurred before",
    "odd_lengths": "left out: lengths that fit no translation",
    "kept": "pairs kept",
    "groups": "groups of pairs that share a sentence",
    "train": "training pairs",
    "validation": "validation sentences",
    "test": "test sentences",
    "withheld": "left out: the pair shares a sentence with a validation or test sentence",
    "held_out": "left out: the pair shares a sentence with a held-out test set",
    "parts": "parts, one for each epoch in turn",
}
TRAINING = {
    "steps": "batches",
    "epochs": "epochs",
    "seconds": "seconds, validation included",
    "tokens_per_second": "source and target tokens per second, padding not counted",
    "validation_bleu": "best validation BLEU",
    "parameters": "weights",
}
LEARNING = {
    "step": "batches",
    "seconds": "seconds",
    "loss": "training loss",
    "bleu": "validation BLEU",
}
# Digits after the point of numbers that need fewer than all.
_DIGITS = {
    "epochs": 1,
    "seconds": 0,
    "tokens_per_second": 0,
    "validation_bleu": 1,
    "loss": 3,
    "bleu": 1,
}


def readable(name: str, value: object) -> str:
    """A value as text, with separators of thousands and as many digits as tell something.

    Example:

    >>> [readable("seconds", 3211.7), readable("loss", 4.0 / 3), readable("learning_rate", 4e-3)]
    ['3,212', '1.333', '0.004']
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.{_DIGITS[name]}f}" if name in _DIGITS else f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
