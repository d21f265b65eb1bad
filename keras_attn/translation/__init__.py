"""The translator: text, tokens, batches, model, search, SavedModel; one folder a station."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keras_attn.translation.export.translator import Translator

__all__ = ["Translator"]


def __getattr__(name: str) -> Any:
    # TensorFlow and its text operations take seconds to import; most of what lives here
    # does not need them.
    if name == "Translator":
        from keras_attn.translation.export.translator import Translator

        return Translator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
