"""Numbered folders of the versions of an exported translator."""

from __future__ import annotations

from pathlib import Path

# TensorFlow Serving leaves this folder of a version alone.
EXTRA = "assets.extra"
CONFIG = "config.json"


def _versions(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdecimal() and path.is_dir()]


def next_version(folder: Path) -> Path:
    """Folder of the next version to be written."""
    return folder / str(max([0, *_versions(folder)]) + 1)


def version_before(version: Path) -> Path | None:
    """Folder of the previous version, or None."""
    earlier = [number for number in _versions(version.parent) if number < int(version.name)]
    return version.parent / str(max(earlier)) if earlier else None


def newest_version(path: Path) -> Path:
    """The folder of a SavedModel: `path` itself, or its highest numbered folder.

    Raises:
        ValueError: If there is none.
    """
    if not path.is_dir():
        raise ValueError(f"The model must be a folder that `train.py` wrote. Received: {path}.")
    folder = path
    if not (path / "saved_model.pb").is_file():
        versions = _versions(path)
        if not versions:
            raise ValueError(f"There is no exported model in the folder. Received: {path}.")
        folder = path / str(max(versions))
    if not (folder / "saved_model.pb").is_file() or not (folder / EXTRA / CONFIG).is_file():
        raise ValueError(
            f"The folder holds no translator that `train.py` exported. Received: {folder}."
        )
    return folder
