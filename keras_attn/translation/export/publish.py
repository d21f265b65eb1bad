"""Export of a trained model, with the score of the exported version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.evaluation.report import Report
from keras_attn.translation.export import documents, saved_model
from keras_attn.translation.tokenization.tokenizer import Tokenizers


def publish(
    model: Transformer,
    tokenizers: Tokenizers,
    config: Config,
    folder: Path,
    scored: dict[str, Any],
) -> tuple[Path, Report | None]:
    """Export a model, then score the version as it was loaded from disk and write its documents.

    Args:
        model: Trained model.
        tokenizers: Tokenizers of the model.
        config: Configuration of the model.
        folder: Folder of all versions.
        scored: Arguments of `documents.write` after the first.

    Returns:
        Folder of the new version; the report, or None if the version could not be scored.

    Raises:
        OSError: If the version cannot be written.
        ValueError: If the exported model cannot translate.
    """
    translator = saved_model.export(model, tokenizers, config, folder)
    return translator.folder, documents.write(translator, **scored)
