"""Attention for Keras 3: the layers. The translator is `keras_attn.translation`."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

from keras_attn.cli import is_command
from keras_attn.habits import CLASSES, no_attribute

if TYPE_CHECKING:
    from keras_attn.layers import *  # noqa: F403

__version__ = "0.1.0"


def _all_layers() -> ModuleType:
    try:
        importlib.import_module("keras_attn.training")
        return importlib.import_module("keras_attn.layers")
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package in ("tensorflow", "jax", "torch"):
            raise ImportError(
                f"Keras runs on `{package}`, which is not installed: install it, or set the "
                "environment variable KERAS_BACKEND to one that is (`tensorflow`, `jax` or "
                "`torch`)."
            ) from error
        raise


def __getattr__(name: str) -> Any:
    if name == "__all__" or (not name.startswith("_") and name in _all_layers().__all__):
        return getattr(_all_layers(), name)
    raise no_attribute(f"module {__name__!r}", name, CLASSES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})


# Importing the layers, optimizers and losses registers them with Keras, so that it finds their
# classes when it loads a model. Keras takes seconds to import. A command such as
# `keras-attn --help` does not need it, so there they are imported on first use.
if not is_command():
    _all_layers()
