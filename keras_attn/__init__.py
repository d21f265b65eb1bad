"""Attention for Keras 3: the layers. The translator is `keras_attn.translation`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keras_attn.extras import no_backend
from keras_attn.registration import register_with_keras

if TYPE_CHECKING:
    from keras_attn.all_layers import *  # noqa: F403

__version__ = "0.1.0"

# Keras takes seconds to import, and `train.py --help` does not need it. The layers are imported
# together with Keras or on first use, whichever comes first.
register_with_keras()


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import keras_attn.all_layers as layers
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package in ("tensorflow", "jax", "torch"):
            raise ImportError(no_backend(package)) from error
        raise
    try:
        found = getattr(layers, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
