"""Export of a trained model, with its scores and documents: figures, report and model card."""

import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from keras_attn.layers.transformer import Transformer
from keras_attn.translation import versions
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.splits import Example, HeldOut, in_the_wild
from keras_attn.translation.evaluation import acceptability, figures, model_card
from keras_attn.translation.evaluation.calibration import Calibration
from keras_attn.translation.evaluation.evaluate import TRANSLATIONS, evaluate
from keras_attn.translation.evaluation.exactness import Share
from keras_attn.translation.evaluation.markdown import report_lines
from keras_attn.translation.evaluation.report import EpochRecord, Report
from keras_attn.translation.export.saved_model import export
from keras_attn.translation.lexicon import Lexicon
from keras_attn.translation.tokenization.tokenizer import Tokenizers


def export_and_score(
    model: Transformer,
    tokenizers: Tokenizers,
    config: Config,
    folder: Path,
    *,
    lexicon: Lexicon | None,
    validation: Sequence[Example],
    examples: Sequence[Example],
    corpora: Mapping[str, Sequence[int]],
    held_out: Sequence[HeldOut],
    history: Sequence[EpochRecord],
    details: dict[str, Any],
) -> tuple[Path, Report | None]:
    """Export a model, load it from disk, score it, and write figures, report and model card.

    The version is complete without its documents, so what fails after the export is a warning, and
    the report is None if the model could not be scored. See `export` and `evaluate`.
    """
    calibration = Calibration(validation)
    translator = export(model, tokenizers, config, folder, calibration, lexicon)
    details = {**details, "is_uncertain": calibration.details} if calibration.details else details
    version, report = translator.folder, None
    with _warning(version, "scores"):
        before = versions.version_before(version)
        report = evaluate(
            translator, examples, config.target, before, corpora, held_out, history, details
        )
    if report and (config.source, config.target) == ("ja", "en"):
        with _warning(version, "share of acceptable translations"):
            rows = acceptability.read(in_the_wild())
            rows = [row for row in rows if row.split == acceptability.DEVELOPMENT]
            texts = translator([row.source for row in rows])
            right = sum(map(acceptability.is_acceptable, texts, rows))
            report = dataclasses.replace(report, acceptable=Share(right, len(rows)))
    with _warning(version, "figures"):
        if figures.can_be_drawn():
            figures.draw(version, translator, examples[0].source, history)
    if report:
        with _warning(version, "report"):
            write_report(report, version)
        with _warning(version, "model card"):
            model_card.write(version, config, report)
    return version, report


def write_report(report: Report, folder: Path) -> None:
    """Write `report.json`, `report.md` and `translations.tsv` (all translations)."""
    record = {name: _plain(value) for name, value in vars(report).items()}
    del record["translations"]
    text = json.dumps(record, indent=2, ensure_ascii=False, default=str)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    markdown = "\n".join(report_lines(report, folder)) + "\n"
    (folder / "report.md").write_text(markdown, encoding="utf-8")
    lines = ("\t".join(" ".join(text.split()) for text in row) for row in report.translations)
    (folder / TRANSLATIONS).write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")


def _plain(value: Any) -> Any:
    """Convert named tuples to dicts, so that JSON keeps the field names."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


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
