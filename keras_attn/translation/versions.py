"""Numbered version folders of an exported translator."""

import json
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Subfolder of a version for additional files; TensorFlow Serving does not load it as assets.
EXTRA = "assets.extra"
CONFIG = "config.json"
LEXICON = "lexicon.npz"
SIZES = "sizes.json"
# Origin of an imported model, and folder of the documents that came with it.
ORIGIN, ORIGIN_DOCUMENTS = "origin.json", "origin"
_UNFINISHED = ".export-"
_NUMBER = re.compile("0|[1-9][0-9]{0,18}")
_NEEDED = ("saved_model.pb", "variables/variables.index", f"{EXTRA}/{CONFIG}")


def numbered(folder: Path) -> dict[int, Path]:
    """Paths in a folder, also files, by the version number that is the name; newest first.

    As in TensorFlow Serving, 0 is a version, a number has no leading zeros and fits 64 bits.
    """
    paths = {int(path.name): path for path in folder.iterdir() if _NUMBER.fullmatch(path.name)}
    return {number: paths[number] for number in sorted(paths, reverse=True) if number < 2**63}


def _versions(folder: Path) -> list[Path]:
    """Numbered folders, also such as cannot be read, newest first."""
    return [path for path in numbered(folder).values() if os.path.isdir(path)]


def next_version(folder: Path) -> Path:
    """Folder of the next version to write."""
    return folder / str(max([0, *numbered(folder)]) + 1)


def version_before(version: Path) -> Path | None:
    """Folder of the previous whole version, or None."""
    earlier = (path for path in _versions(version.parent) if int(path.name) < int(version.name))
    return next((path for path in earlier if not fault(path)), None)


def newest_version(path: Path, of_translator: bool = True) -> Path:
    """Folder of a SavedModel: `path`, or the whole version in `path` with the highest number."""
    check_path(path)
    if not path.is_dir():
        raise ValueError(
            "The model must be a folder that `keras-attn train` wrote; it comes before any text. "
            f"Received: {path}."
        )
    folders = [path] if (path / "saved_model.pb").is_file() else _versions(path)
    if not folders:
        raise ValueError(f"There is no exported model in the folder. Received: {path}.")
    skipped = ""
    for folder in folders:
        reason = fault(folder, of_translator)
        if not reason:
            if skipped:
                warnings.warn(
                    f"`{folder}` is used, because newer folders are incomplete exports: {skipped}.",
                    stacklevel=2,
                )
            return folder
        skipped += f"{', ' if skipped else ''}`{folder}` ({reason})"
    raise ValueError(
        "The folder holds no exported translator, or only a part of one. "
        f"Received: {skipped}. Copy the whole folder, or train a new model."
    )


def check_path(folder: Path) -> None:
    """Raise a ValueError if TensorFlow would not find the files in a folder."""
    path = os.path.abspath(folder)
    if found := ({"[", "\\"} - {os.sep}) & set(path):
        raise ValueError(
            f"The path of a model must not have the character {' or '.join(sorted(found))}: "
            f"TensorFlow reads it as a pattern. Received: {path}. Rename the folder."
        )


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """New folder in `folder`, to be renamed when it is complete; otherwise it is deleted.

    Folders of processes that were killed are deleted too.
    """
    check_path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.glob(f"{_UNFINISHED}*"):
        if (lock := _lock(earlier)) is not None:
            shutil.rmtree(earlier, ignore_errors=True)
            os.close(lock)
    aside = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder))
    lock = _lock(aside)
    try:
        aside.chmod(0o755)  # mkdtemp makes folders that the user of a server cannot read
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _lock(folder: Path) -> int | None:
    """Descriptor that locks a folder, or None if another process locks it or no lock is possible.

    The end of the process unlocks the folder, whatever its name has become.
    """
    try:
        import fcntl  # missing on Windows

        opened = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened


def write_sizes(version: Path) -> None:
    """Record the sizes of the files that a version needs, by which `fault` finds a cut copy."""
    patterns = ("*.pb", "variables/*", f"{EXTRA}/*.model")
    needed = (path for pattern in patterns for path in version.glob(pattern))
    sizes = {path.relative_to(version).as_posix(): path.stat().st_size for path in needed}
    (version / EXTRA / SIZES).write_text(json.dumps(sizes, indent=2) + "\n", encoding="utf-8")


def fault(version: Path, of_translator: bool = True) -> str:
    """Why a version is incomplete, in a few words; empty if it is complete.

    Any SavedModel is whole if it need not be `of_translator`.
    """
    needed: dict[str, int | None] = dict.fromkeys(_NEEDED if of_translator else _NEEDED[:1])
    for name in (f"{EXTRA}/{SIZES}", f"{EXTRA}/{CONFIG}"):
        try:
            content = json.loads((version / name).read_bytes())
        except ValueError:
            return f"{name} is cut off"
        except OSError:
            continue  # an older version has no record of sizes
        if not isinstance(content, dict):
            return f"{name} is cut off"
        if name.endswith(SIZES):
            needed |= content
    for name, size in needed.items():
        try:
            found = (version / name).stat().st_size
        except FileNotFoundError:
            return f"{name} is missing"
        except OSError as error:
            return f"{name} cannot be read: {error.strerror}"
        if size is not None and found != size:
            return f"{name} has {found:,} bytes of {size:,}"
    has_index = os.path.isfile(version / "variables/variables.index")
    if has_index and not any(version.glob("variables/variables.data-*")):
        return "variables/variables.data is missing"
    return ""


def load(version: Path, signatures: Iterable[str] = (), cores: int | None = None) -> Any:
    """The SavedModel of a version, which must have the `signatures`; shards run on the `cores`."""
    import tensorflow as tf  # takes seconds

    from keras_attn.translation.runtime import saved_model, threads

    threads.set_intra_op_threads()
    try:
        loaded = saved_model.load(version)
        if missing := sorted(set(signatures) - set(loaded.signatures)):
            raise ValueError(f"it has no signature {', '.join(missing)}")
    except (OSError, ValueError, tf.errors.OpError) as error:
        # An older version may lack a signature, or have operations that TensorFlow lacks.
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"The model `{version}` is damaged or was exported by an older version of keras_attn "
            f"({reason}): train a new model, or use the version of keras_attn that exported it."
        ) from error
    threads.one_core_for_each_shard(loaded, cores)
    return loaded
