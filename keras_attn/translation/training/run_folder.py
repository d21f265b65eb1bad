"""Folder of an unfinished training: configuration, lock and checkpoints."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from keras_attn.translation import versions
from keras_attn.translation.config import Config
from keras_attn.translation.training.checkpoints import newest_first

CONFIG = "config.json"
LOCK = ".lock"

# Fields whose defaults depend on machine and budget, which may have changed at a resumption.
CHOSEN = (
    "precision",
    "max_padding",
    "dropout",
    "subword_alpha",
    "adam_lr_ratio",
    "warmup_steps",
    "num_encoder_layers",
    "num_decoder_layers",
)


def check_writable(folder: Path) -> None:
    """Check before training that the folder of the exported versions can be written."""
    versions.check_path(folder)
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        for one in made:  # a training that fails leaves none
            one.rmdir()
    except OSError as error:
        raise ValueError(
            f"`--out` must be a folder that can be written. Received: {folder} ({error.strerror})."
        ) from error


def unfinished_settings(folder: Path) -> dict[str, Any]:
    """Fields that a resumed training keeps; empty if `folder` has no unfinished training."""
    path = folder / CONFIG
    config = Config.load(path) if path.is_file() and newest_first(folder) else None
    return {name: getattr(config, name) for name in CHOSEN} if config else {}


def prepare_folder(config: Config, folder: Path) -> IO:
    """Create the folder of a training, or check that `config` can resume the training in it.

    The open file that is returned locks the folder against other trainings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = _lock(folder)
    path = folder / CONFIG
    if path.is_file():
        differences = Config.load(path).differences(config)
        if differences and newest_first(folder):
            raise ValueError(
                f"An unfinished training in `{folder}` was started with another configuration: "
                f"{'; '.join(differences)}. Give the earlier values to resume it, or delete "
                "that folder to start again."
            )
        if differences:  # the earlier training ended before its first checkpoint
            for file in folder.iterdir():
                if file.is_dir():  # a checkpoint that a killed training did not finish
                    shutil.rmtree(file)
                elif file.name != LOCK:
                    file.unlink()
    config.save(path)
    return lock


def remove(folder: Path, lock: IO) -> None:
    """Remove the folder of a finished training, or warn that it cannot be removed."""
    lock.close()
    try:
        shutil.rmtree(folder)
    except OSError as error:
        print(
            f"warning: the folder of the finished training cannot be removed: {error}. Delete "
            f"`{folder}` before the next training.",
            file=sys.stderr,
        )


def _lock(folder: Path) -> IO:
    file = (folder / LOCK).open("w")
    try:
        import fcntl  # missing on Windows: the folder is not locked there

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass
    except BlockingIOError as error:
        file.close()
        raise ValueError(
            f"Another training is running in `{folder}`. Wait until it ends, or give another --out."
        ) from error
    return file
