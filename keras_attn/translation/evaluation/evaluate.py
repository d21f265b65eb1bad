"""Evaluation of an exported translator on the test sentences."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from keras_attn.translation.corpus.splits import Example, HeldOut
from keras_attn.translation.evaluation import metrics
from keras_attn.translation.evaluation.exactness import exactness
from keras_attn.translation.evaluation.report import (
    EpochRecord,
    LengthGroup,
    Report,
    Sample,
    SetScores,
)

# Upper bounds, in characters, of the groups by source length; a last group has no upper bound.
LENGTHS = (10, 20, 40, 80)
NUM_EXTREMES = 5
NUM_SAMPLES = 10
TRANSLATIONS = "translations.tsv"  # file of all translations of a report

Translate = Callable[[list[str]], Sequence[str]]
Translated = list[tuple[Example, str]]  # examples, each with its translation


def evaluate(
    translate: Translate,
    examples: Sequence[Example],
    target_language: str,
    baseline: Path | None = None,
    corpora: Mapping[str, Sequence[int]] | None = None,
    held_out: Sequence[HeldOut] = (),
    history: Sequence[EpochRecord] = (),
    details: dict[str, Any] | None = None,
) -> Report:
    """Translate the sources of the examples and score the translations.

    `baseline` is the folder of an earlier report, compared with if it is on the same sentences.
    `corpora` are the positions in `examples` of each corpus, scored if there are several.
    """
    start = time.monotonic()
    translated = _translated(translate, examples)
    seconds = time.monotonic() - start
    whole = _set_scores("", translated, target_language)
    samples = [Sample(one.source, text, one.references[0]) for one, text in translated]
    ranks = [metrics.sentence_chrf(text, one.references) for one, text in translated]
    ranked = [samples[i] for i in sorted(range(len(samples)), key=lambda i: -ranks[i])]
    count = min(NUM_SAMPLES, len(samples))
    return Report(
        whole.scores,
        whole.exactness,
        whole.num_sentences,
        seconds,
        samples=[samples[i * len(samples) // count] for i in range(count)],
        best=ranked[:NUM_EXTREMES],
        worst=ranked[::-1][:NUM_EXTREMES],
        by_length=_by_length(translated, target_language),
        by_corpus=[
            _set_scores(name, [translated[i] for i in rows], target_language)
            for name, rows in (corpora or {}).items()
            if rows and len(corpora or {}) > 1
        ],
        held_out=[
            _set_scores(one.name, _translated(translate, one.examples), target_language)
            for one in held_out
        ],
        translations=samples,
        comparison=_comparison(baseline, translated, target_language) if baseline else None,
        history=list(history),
        details=dict(details or {}),
    )


def _translated(translate: Translate, examples: Sequence[Example]) -> Translated:
    translations = list(translate([example.source for example in examples]))
    if len(translations) != len(examples):
        raise ValueError(
            "`translate` must return one translation for each text. "
            f"Received: {len(translations)} for {len(examples)} texts."
        )
    return list(zip(examples, translations, strict=True))


def _columns(translated: Translated) -> tuple[list[str], list[str], list[tuple[str, ...]]]:
    """Sources, translations and references."""
    examples, translations = [one for one, _ in translated], [text for _, text in translated]
    return [x.source for x in examples], translations, [x.references for x in examples]


def _set_scores(name: str, translated: Translated, target_language: str) -> SetScores:
    sources, translations, references = _columns(translated)
    scores = metrics.score(translations, references, target_language)
    return SetScores(name, len(translated), scores, exactness(sources, translations, references))


def _by_length(translated: Translated, target_language: str) -> list[LengthGroup]:
    groups = []
    for low, high in zip((0, *LENGTHS), (*LENGTHS, math.inf), strict=True):
        group = [(one, text) for one, text in translated if low < len(one.source) <= high]
        if group:
            name = f"more than {low}" if high == math.inf else f"{low + 1} to {high}"
            _, translations, references = _columns(group)
            bleu = metrics.bleu(translations, references, target_language)
            groups.append(LengthGroup(name, len(group), bleu))
    return groups


def _comparison(
    baseline: Path, translated: Translated, target_language: str
) -> metrics.Comparison | None:
    sources, translations, references = _columns(translated)
    earlier = earlier_translations(baseline, sources)
    if not earlier:
        return None
    name = f"version {baseline.name}"
    return metrics.compare(name, earlier, translations, references, target_language)


def earlier_translations(folder: Path, sources: Sequence[str]) -> list[str] | None:
    """Translations of an earlier report, or None if its sources differ from `sources`."""
    path = folder / TRANSLATIONS
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    rows = [line.split("\t") for line in text.splitlines()]
    is_same = [row[0] for row in rows] == [" ".join(source.split()) for source in sources]
    return [row[1] for row in rows] if is_same and all(row[1:] for row in rows) else None


def check_baseline(folder: Path, sources: Sequence[str]) -> None:
    """Raise a `ValueError` unless a folder holds earlier translations of `sources`."""
    if earlier_translations(folder, sources) is None:
        path = folder / TRANSLATIONS
        received = "of other sentences" if path.is_file() else "which does not exist"
        raise ValueError(
            "The baseline must be a folder with translations of the same sentences, as train.py "
            f"and `evaluate --out` write them. Received: `{path}`, {received}."
        )
