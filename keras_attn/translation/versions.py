"""Numbered version folders of an exported translator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# Subfolder of a version for additional files; TensorFlow Serving does not load it as assets.
EXTRA = "assets.extra"
CONFIG = "config.json"


def _versions(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdecimal() and path.is_dir()]


def next_version(folder: Path) -> Path:
    """Folder of the next version to write."""
    return folder / str(max([0, *_versions(folder)]) + 1)


def version_before(version: Path) -> Path | None:
    """Folder of the previous whole version, or None."""
    earlier = [number for number in _versions(version.parent) if number < int(version.name)]
    folders = (version.parent / str(number) for number in sorted(earlier, reverse=True))
    return next(filter(_is_whole, folders), None)


def newest_version(path: Path) -> Path:
    """Folder of a SavedModel: `path`, or the whole version in `path` with the highest number.

    A warning names newer folders that are not whole, for example after a copy that was cut off.

    Raises:
        ValueError: If `path` holds no exported translator.
    """
    if not path.is_dir():
        raise ValueError(f"The model must be a folder that `train.py` wrote. Received: {path}.")
    folders = [path]
    if not (path / "saved_model.pb").is_file():
        folders = [path / str(number) for number in sorted(_versions(path), reverse=True)]
    if not folders:
        raise ValueError(f"There is no exported model in the folder. Received: {path}.")
    whole = next((folder for folder in folders if _is_whole(folder)), None)
    if whole is None:
        raise ValueError(
            f"The folder holds no translator that `train.py` exported. Received: {folders[0]}."
        )
    if skipped := folders[: folders.index(whole)]:
        warnings.warn(
            f"`{whole}` is used, because newer folders are no whole exported translators: "
            f"{', '.join(folder.name for folder in skipped)}.",
            stacklevel=2,
        )
    return whole


def _is_whole(folder: Path) -> bool:
    files = ("saved_model.pb", "variables/variables.index", f"{EXTRA}/{CONFIG}")
    return all((folder / name).is_file() for name in files)


def load(version: Path, signatures: Iterable[str] = ()) -> Any:
    """The SavedModel of a version, loaded by TensorFlow.

    Args:
        version: Folder of the version.
        signatures: Names of the signatures that the caller requires. Defaults to none.

    Raises:
        ValueError: If the SavedModel is damaged, or an older version of keras_attn exported it
            without one of the signatures or with operations that TensorFlow lacks.
    """
    import tensorflow as tf  # takes seconds

    try:
        loaded = tf.saved_model.load(str(version))
    except (OSError, ValueError, tf.errors.OpError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(_cannot_be_loaded(version, reason)) from error
    missing = sorted(set(signatures) - set(loaded.signatures))
    if missing:
        reason = f"it has no signature {', '.join(missing)}"
        raise ValueError(_cannot_be_loaded(version, reason))
    return loaded


def _cannot_be_loaded(version: Path, reason: str) -> str:
    return (
        f"The model `{version}` is damaged or was exported by an older version of keras_attn "
        f"({reason}): train a new model, or use the version of keras_attn that exported it."
    )
