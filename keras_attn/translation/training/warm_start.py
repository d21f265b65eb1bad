"""Warm start from the weights of an exported model or of a checkpoint."""

import shutil
import warnings
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeGuard

from keras_attn.layers.transformer import Transformer
from keras_attn.translation import named_weights
from keras_attn.translation.config import AND, SEARCH, Config
from keras_attn.translation.lexicon import Lexicon
from keras_attn.translation.tokenization.tokenizer import Tokenizer, Tokenizers
from keras_attn.translation.training.checkpoints import newest_first, read_weights
from keras_attn.translation.versions import (
    CONFIG,
    EXTRA,
    LEXICON,
    ORIGIN,
    ORIGIN_DOCUMENTS,
    newest_version,
)

# Fields copied from the configuration of the earlier model.
INHERITED = (
    *("source", "target", "vocab_size", "tokenizer", "shared_vocab"),
    *(name for name in Config().model_options() if name != "dropout"),
)
# Fields that a given value replaces.
KEPT = (
    "language_token",
    *(field.name for field in fields(Config) if field.metadata["group"] == SEARCH),
)
DEFAULTS: dict[str, Any] = {"learning_rate": 8e-4}  # lower than for random weights


def inherit(**given: Any) -> tuple[Path | None, dict[str, Any]]:
    """Folder of the model of a warm start, if any, and all fields of the configuration."""
    if not given.get("start_from"):
        return None, given
    start = Path(given["start_from"])
    folder = start if newest_first(start) else newest_version(start)
    config = Config.load(_with_tokenizers(folder) / CONFIG)
    inherited = {name: getattr(config, name) for name in INHERITED}
    others = [
        f"{name}={given[name]!r} where the model has {value!r}"
        for name, value in inherited.items()
        if given.get(name, value) != value
    ]
    if others:
        raise ValueError(
            f"A training that starts from `{folder}` must keep its sizes and languages. "
            f"Received: {', '.join(others)}."
        )
    held_out = config.hold_out.split(AND)
    seen = [name for name in given.get("hold_out", "").split(AND) if name not in held_out]
    if any(seen):
        warnings.warn(
            f"The model in `{folder}` was trained without --hold-out {' '.join(seen)}. If these "
            "sentences were among its training pairs, the scores on them are too high.",
            stacklevel=2,
        )
    kept = {name: getattr(config, name) for name in KEPT}
    return folder, {**DEFAULTS, **kept, **given, **inherited, "start_from": str(folder)}


def _with_tokenizers(folder: Path) -> Path:
    """Folder of tokenizers and configuration: next to the checkpoints or inside a version."""
    return folder if newest_first(folder) else folder / EXTRA


def copy_tokenizers(earlier: Path, folder: Path) -> None:
    """Copy the tokenizers of the model in `earlier`, found by `inherit`, to `folder`."""
    for name in Tokenizers._fields:
        file = f"{name}.model"
        Tokenizer.load(_with_tokenizers(earlier) / file).save(folder / file)


def copy_origin(earlier: Path | None, version: Path) -> None:
    """Copy licence and citation of an imported model in `earlier` to the version made from it."""
    if earlier is None:
        return
    if (origin := earlier / EXTRA / ORIGIN).is_file():
        shutil.copy(origin, version / EXTRA)
    if (documents := earlier / EXTRA / ORIGIN_DOCUMENTS).is_dir():
        shutil.copytree(documents, version / EXTRA / ORIGIN_DOCUMENTS)


def is_version(earlier: Path | None) -> TypeGuard[Path]:
    """Whether `earlier`, found by `inherit`, is an exported version, not checkpoints."""
    return earlier is not None and not newest_first(earlier)


def read_lexicon(version: Path) -> Lexicon | None:
    """Lexicon of an exported version; None if it has none."""
    path = version / EXTRA / LEXICON
    return Lexicon.load(path) if path.is_file() else None


def copy_weights(earlier: Path, model: Transformer) -> None:
    """Copy the weights of the model in `earlier`, found by `inherit`, to a built model."""
    read = read_weights if newest_first(earlier) else named_weights.of_version
    try:
        named_weights.assign(model.trainable_variables, read(earlier))
    except ValueError as error:
        raise ValueError(f"Training cannot start from `{earlier}`. {error}") from error
