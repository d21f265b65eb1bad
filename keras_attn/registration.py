"""Registration of the layers with Keras at the moment that Keras is imported.

`keras.saving.load_model` finds the classes of a saved model in a registry of Keras, and a layer
enters the registry when its module is imported. A module that is imported on first use only would
be missing there.
"""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def register_with_keras() -> None:
    """Import all layers: now if Keras is imported, else as soon as Keras has been imported."""
    if "keras" in sys.modules:
        _import_layers()
    elif not any(isinstance(finder, _KerasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _KerasFinder())


def _import_layers() -> None:
    importlib.import_module("keras_attn.all_layers")


class _KerasFinder(MetaPathFinder):
    """Finds Keras where the other finders find it, and adds the layers to its import."""

    def find_spec(self, fullname, path=None, target=None) -> ModuleSpec | None:
        if fullname != "keras":
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next(filter(None, specs), None)
        if spec and spec.loader:
            spec.loader = _KerasLoader(spec.loader, self)
        return spec


class _KerasLoader(Loader):
    """Loads Keras with its own loader, then imports the layers."""

    def __init__(self, loader: Loader, finder: _KerasFinder):
        self._loader = loader
        self._finder = finder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Resources of Keras are read with the own loader of Keras.
        module.__loader__ = self._loader
        if module.__spec__:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        _import_layers()
