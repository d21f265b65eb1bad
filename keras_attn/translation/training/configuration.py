"""Configuration of a training: from the arguments, a warm start, the corpus and this machine."""

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import keras
from keras_attn_data import cache

from keras_attn.translation import presets
from keras_attn.translation.config import Config
from keras_attn.translation.runtime import devices, precision
from keras_attn.translation.training import run_folder, warm_start
from keras_attn.translation.training.jax import devices as jax_devices
from keras_attn.translation.training.jax import processes


class Asked(NamedTuple):
    """Request of the command, as `read_arguments` completes it."""

    fields: dict[str, Any]  # given fields of the configuration, and those of a warm start
    out: Path  # folder of the exported versions
    earlier: Path | None  # folder of the model of a warm start
    board: Path | None  # folder of curves for TensorBoard
    model_devices: int  # number of devices that hold a copy of the weights together

    @property
    def work(self) -> Path:
        """Folder of the unfinished training."""
        return self.out / "training"


def read_arguments(arguments: dict[str, Any]) -> Asked:
    """Check the given flags of the command, by name, and prepare the output."""
    given = dict(arguments)
    out, board = given.pop("out", None), given.pop("tensorboard", None)
    model_devices = given.pop("model_devices", 1)
    jax_devices.check_model_devices(model_devices)
    earlier, given = warm_start.inherit(**given)
    config = Config(**given)
    config.validate()
    out = out or Path("saved_models") / f"{config.source}-{config.target}"
    if processes.is_primary():
        run_folder.check_writable(out)
    else:
        sys.stdout = open(os.devnull, "w")
    return Asked(given, out, earlier, board, model_devices)


def choose(asked: Asked, corpus: str, num_pairs: int) -> Config:
    """Configuration for a corpus on this machine, as the first process chooses it for all."""
    num_accelerators = len(devices.accelerators())
    shapes: dict[str, Any] = {}
    if keras.backend.backend() == "jax":
        shapes = presets.FIXED_SHAPES
        if num_accelerators:  # programs for a processor compile in seconds
            jax_devices.keep_programs(cache.folder() / "programs")
            shapes = presets.FIXED_SHAPES_ON_ACCELERATOR
    speeds = precision.measure_speeds()
    kept = run_folder.unfinished_settings(asked.work)
    fastest = {"precision": precision.fastest(speeds)}
    given = {**fastest, **shapes, **kept, **asked.fields, "data": corpus}
    return processes.broadcast_from_primary(
        lambda: presets.for_corpus(num_pairs, speeds, num_accelerators, **given)
    )
