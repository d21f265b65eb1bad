"""Documents of an exported version: figures, report and model card."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from keras_attn.translation import versions
from keras_attn.translation.corpus.held_out import HeldOut
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation import report_files
from keras_attn.translation.evaluation.evaluate import evaluate
from keras_attn.translation.evaluation.history import EpochRecord
from keras_attn.translation.evaluation.report import Report
from keras_attn.translation.export import figures, model_card
from keras_attn.translation.export.translator import Translator


def write(
    translator: Translator,
    examples: Sequence[Example],
    history: Sequence[EpochRecord],
    details: dict[str, Any],
    corpora: Mapping[str, Sequence[int]] | None = None,
    held_out: Sequence[HeldOut] = (),
) -> Report | None:
    """Score an exported version, and write figures, report and model card to its folder.

    The version is complete without its documents, so whatever fails here is a warning on standard
    error that names what is missing.

    Args:
        translator: Exported version, as `saved_model.export` returns it.
        examples: Test sentences with references.
        history: One record for each validation of a training.
        details: Additional entries of the report.
        corpora: Positions of the test sentences of each corpus, by name. Defaults to None.
        held_out: Held-out test sets. Defaults to none.

    Returns:
        The report, or None if the version could not be scored.
    """
    version, config = translator.folder, translator.config
    report = None
    with _warning(version, "scores"):
        report = evaluate(
            translator,
            examples,
            config.target,
            baseline=versions.version_before(version),
            corpora=corpora,
            held_out=held_out,
            history=history,
            details=details,
        )
    with _warning(version, "figures"):
        if figures.can_be_drawn():
            figures.draw(version, translator, examples[0].source, history)
    if report:
        with _warning(version, "report"):
            report_files.write(report, version)
        with _warning(version, "model card"):
            model_card.write(version, config, report)
    return report


@contextmanager
def _warning(version: Path, what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # of TensorFlow, sacreBLEU, matplotlib and the disk
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        print(
            f"warning: the model in `{version}` is complete, but has no {what} ({reason}).",
            file=sys.stderr,
        )
