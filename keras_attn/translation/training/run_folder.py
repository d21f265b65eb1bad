"""Folder of an unfinished training: configuration, lock and checkpoints."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import IO, Any

from keras_attn.translation.config import Config
from keras_attn.translation.training.checkpoints import newest_first

CONFIG = "config.json"
LOCK = ".lock"

# Settings chosen from machine and training time. A resumed training keeps them, though both may
# have changed.
CHOSEN = (
    "precision",
    "dropout",
    "subword_alpha",
    "adam_lr_ratio",
    "warmup_steps",
    "num_encoder_layers",
    "num_decoder_layers",
)


def check_writable(folder: Path) -> None:
    """Create the folder of the exported versions, to find out before training if it is writable.

    Raises:
        ValueError: If it cannot be created or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ValueError(
            f"`--out` must be a folder that can be written. Received: {folder} ({error.strerror})."
        ) from error


def unfinished_settings(folder: Path) -> dict[str, Any]:
    """Settings that a resumed training keeps; empty if no unfinished training is in `folder`."""
    path = folder / CONFIG
    if not path.is_file() or not newest_first(folder):
        return {}
    config = Config.load(path)
    return {name: getattr(config, name) for name in CHOSEN}


def prepare_folder(config: Config, folder: Path) -> IO:
    """Create the folder of a training, or check that `config` can resume the training in it.

    Returns:
        An open file that locks the folder against other trainings until it is closed.

    Raises:
        ValueError: If another training runs in `folder`, or an unfinished one is there with another
            configuration; names the differences.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = _lock(folder)
    path = folder / CONFIG
    if path.is_file():
        differences = Config.load(path).differences(config)
        if differences and newest_first(folder):
            raise ValueError(
                f"An unfinished training in `{folder}` was started with another configuration: "
                f"{'; '.join(differences)}. Give the earlier values to go on with it, or delete "
                "that folder to start anew."
            )
        if differences:  # it ended before anything was learnt
            for file in folder.iterdir():
                if file.is_dir():  # a checkpoint that was being written when training was killed
                    shutil.rmtree(file)
                elif file.name != LOCK:
                    file.unlink()
    config.save(path)
    return lock


def _lock(folder: Path) -> IO:
    file = (folder / LOCK).open("w")
    try:
        import fcntl  # not on Windows, where nothing is locked

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass
    except BlockingIOError as error:
        file.close()
        raise ValueError(
            f"Another training is running in `{folder}`. Wait for its end, or give another --out."
        ) from error
    return file
