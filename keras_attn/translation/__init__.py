"""Japanese-English translator; one folder for each stage from corpus to exported SavedModel."""

from typing import TYPE_CHECKING, Any

from keras_attn.cli import missing

if TYPE_CHECKING:
    from keras_attn.translation.export.translator import Translator

__all__ = ["Translator"]


def __getattr__(name: str) -> Any:
    # Imported on demand: TensorFlow takes seconds to import, and most modules of this package do
    # not need it.
    if name == "Translator":
        try:
            from keras_attn.translation.export.translator import Translator
        except ModuleNotFoundError as error:
            raise ImportError(missing(str(error.name), "translation")) from error
        return Translator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
