"""Evaluation of an exported translator on the test sentences."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from keras_attn.translation.corpus.held_out import HeldOut
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.exactness import exactness
from keras_attn.translation.evaluation.metrics import bleu, compare, score, sentence_chrf
from keras_attn.translation.evaluation.report import (
    LengthGroup,
    Report,
    Sample,
    SetScores,
)
from keras_attn.translation.evaluation.report_files import earlier_translations

# Upper bounds, in characters, of the groups by source length; a last group has no upper bound.
LENGTHS = (10, 20, 40, 80)
NUM_EXTREMES = 5


def evaluate(
    translate: Callable[[list[str]], list[str]],
    examples: Sequence[Example],
    target_language: str,
    num_samples: int = 10,
    baseline: Path | None = None,
    corpora: Mapping[str, Sequence[int]] | None = None,
    held_out: Sequence[HeldOut] = (),
    history: Sequence[Any] = (),
    details: dict[str, Any] | None = None,
) -> Report:
    """Translate the sources of the examples and score the translations.

    Args:
        translate: Function from texts to translations in the same order.
        examples: Sources with references.
        target_language: Language code of the translations.
        num_samples: Number of samples in the report, evenly spaced over the examples. Defaults
            to 10.
        baseline: Folder of an earlier report. The comparison is skipped if the report is on other
            sentences. Defaults to None.
        corpora: Positions in `examples` of the sentences of each corpus, by name. If there are
            several corpora, each one is scored. Defaults to None.
        held_out: Further test sets, each scored by its name. Defaults to none.
        history: One record for each validation of a training. Defaults to none.
        details: Additional entries of the report. Defaults to None.

    Raises:
        ValueError: If there are no examples, or if `translate` does not return one string for each
            text.
    """
    sources = [example.source for example in examples]
    start = time.monotonic()
    translations = _translate_all(translate, sources)
    seconds = time.monotonic() - start
    references = [example.references for example in examples]
    samples = [
        Sample(example.source, translation, example.references[0])
        for example, translation in zip(examples, translations, strict=True)
    ]
    ranks = [sentence_chrf(t, r) for t, r in zip(translations, references, strict=True)]
    ranked = [samples[i] for i in sorted(range(len(samples)), key=lambda i: -ranks[i])]
    count = min(num_samples, len(examples))
    comparison = None
    if baseline and (earlier := earlier_translations(baseline, sources)):
        name = f"version {baseline.name}"
        comparison = compare(name, earlier, translations, references, target_language)
    by_corpus = [
        _set_scores(
            name, [examples[i] for i in rows], [translations[i] for i in rows], target_language
        )
        for name, rows in (corpora or {}).items()
        if rows and len(corpora or {}) > 1
    ]
    return Report(
        score(translations, references, target_language),
        exactness(sources, translations, references),
        len(examples),
        seconds,
        samples=[samples[i * len(samples) // count] for i in range(count)],
        best=ranked[:NUM_EXTREMES],
        worst=ranked[::-1][:NUM_EXTREMES],
        by_length=_by_length(examples, translations, target_language),
        by_corpus=by_corpus,
        held_out=[
            _set_scores(
                test_set.name,
                test_set.examples,
                _translate_all(translate, [example.source for example in test_set.examples]),
                target_language,
            )
            for test_set in held_out
        ],
        translations=samples,
        comparison=comparison,
        history=list(history),
        details=dict(details or {}),
    )


def _translate_all(translate: Callable[[list[str]], list[str]], sources: list[str]) -> list[str]:
    translations = list(translate(sources))
    if len(translations) != len(sources):
        raise ValueError(
            "`translate` must return one translation for each text. "
            f"Received: {len(translations)} for {len(sources)} texts."
        )
    return translations


def _set_scores(
    name: str, examples: Sequence[Example], translations: Sequence[str], target_language: str
) -> SetScores:
    references = [example.references for example in examples]
    return SetScores(
        name,
        len(examples),
        score(translations, references, target_language),
        exactness([example.source for example in examples], translations, references),
    )


def _by_length(
    examples: Sequence[Example], translations: Sequence[str], target_language: str
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
            group_bleu = bleu([translations[i] for i in rows], references, target_language)
            groups.append(LengthGroup(name, len(rows), group_bleu))
    return groups
