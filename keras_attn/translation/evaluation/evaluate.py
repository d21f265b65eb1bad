"""Evaluation of an exported translator on the test sentences."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.metrics import bleu, compare, score, sentence_chrf
from keras_attn.translation.evaluation.report import (
    LengthGroup,
    Report,
    Sample,
    earlier_translations,
)

# Test sentences are also scored by length in characters; the last group has no end.
LENGTHS = (10, 20, 40, 80)
NUM_EXTREMES = 5


def evaluate(
    translate: Callable[[list[str]], list[str]],
    examples: Sequence[Example],
    target_language: str,
    num_samples: int = 10,
    baseline: Path | None = None,
    history: Sequence[Any] = (),
    details: dict[str, Any] | None = None,
) -> Report:
    """Translate the sources of the examples and score the translations.

    Args:
        translate: Maps texts to their translations, in the same order.
        examples: Sentences with their references.
        target_language: Language code of the translations.
        num_samples: Sentences to show, evenly spaced over the examples.
        baseline: Folder of an earlier report to compare with, if it is on the same sentences.
        history: Records of the epochs of training.
        details: Further entries of the report.

    Raises:
        ValueError: If there are no examples or `translate` does not give one string for each.
    """
    sources = [example.source for example in examples]
    start = time.monotonic()
    said = list(translate(sources))
    seconds = time.monotonic() - start
    if len(said) != len(sources):
        raise ValueError(
            "`translate` must return one translation for each text. "
            f"Received: {len(said)} for {len(sources)} texts."
        )
    references = [example.references for example in examples]
    samples = [
        Sample(example.source, translation, example.references[0])
        for example, translation in zip(examples, said, strict=True)
    ]
    ranks = [sentence_chrf(t, r) for t, r in zip(said, references, strict=True)]
    ranked = [samples[i] for i in sorted(range(len(samples)), key=lambda i: -ranks[i])]
    count = min(num_samples, len(examples))
    comparison = None
    if baseline and (earlier := earlier_translations(baseline, sources)):
        name = f"version {baseline.name}"
        comparison = compare(name, earlier, said, references, target_language)
    return Report(
        score(said, references, target_language),
        len(examples),
        seconds,
        samples=[samples[i * len(samples) // count] for i in range(count)],
        best=ranked[:NUM_EXTREMES],
        worst=ranked[::-1][:NUM_EXTREMES],
        by_length=_by_length(examples, said, target_language),
        translations=samples,
        comparison=comparison,
        history=list(history),
        details=dict(details or {}),
    )


def _by_length(
    examples: Sequence[Example], said: Sequence[str], target_language: str
) -> list[LengthGroup]:
    groups = []
    for low, high in zip((0, *LENGTHS), (*LENGTHS, None), strict=True):
        rows = [
            i
            for i, example in enumerate(examples)
            if low < len(example.source) and (high is None or len(example.source) <= high)
        ]
        if rows:
            name = f"{low + 1} to {high}" if high else f"more than {low}"
            references = [examples[i].references for i in rows]
            found = bleu([said[i] for i in rows], references, target_language)
            groups.append(LengthGroup(name, len(rows), found))
    return groups
