"""Models of a server: one model, a folder of models, or the models of a `models.config`.

The file has the form of TensorFlow Serving's option `--model_config_file`: the text form of
`ModelServerConfig`.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from google.protobuf import text_format
from tensorflow_serving.config import model_server_config_pb2

from keras_attn.serving.errors import RETRY_AFTER, RequestError
from keras_attn.serving.versions import Versions
from keras_attn.translation.versions import newest_version, numbered

_log = logging.getLogger(__name__)
LanguagePair = tuple[str, str]


class Models(dict[str, Versions]):
    """Versions of each model, by the name of the model.

    A model that is added to the folder or to the file is found within `poll_seconds`. A model that
    is taken away is served until the server ends.

    The `path` is the folder of all versions of one model, whose name is the name of the model; a
    folder of such folders; or a file `models.config`.
    """

    def __init__(self, path: Path, poll_seconds: float):
        self._path = path
        self._poll_seconds = poll_seconds
        self._first = self._add(model_folders(path))

    @property
    def is_ready(self) -> bool:
        """Whether a model is warm, and each model of the start is served or skipped as broken."""
        return any(one.is_warm for one in self.values()) and all(
            one.is_settled for one in self._first
        )

    def served(self) -> dict[str, int]:
        """Number of the served version of each model that has one."""
        return {name: one.current.version for name, one in self.items() if one.current}

    def translators(self) -> dict[LanguagePair, Versions]:
        """Served translators by source and target language; the first of each pair."""
        found: dict[LanguagePair, Versions] = {}
        for one in self.translators_by_name().values():
            if one.current and (config := one.current.config):
                found.setdefault((config.source, config.target), one)
        return found

    def translators_by_name(self) -> dict[str, Versions]:
        """Served translators by the name of the model, at least one."""
        found = {name: one for name, one in self.items() if one.current and one.current.config}
        if not found and not self.is_ready:
            raise RequestError(
                "The model is being loaded.", HTTPStatus.SERVICE_UNAVAILABLE, RETRY_AFTER
            )
        if not found:
            raise RequestError(
                "This path is for translators that `train.py` exported; this server has none.",
                HTTPStatus.NOT_FOUND,
            )
        return found

    async def watch(self) -> None:
        """Serve the newest version of each model until cancelled."""
        async with asyncio.TaskGroup() as watching:
            new, reason = list(self.values()), ""
            while True:
                for one in new:
                    watching.create_task(one.watch())
                await asyncio.sleep(self._poll_seconds)
                before, reason = reason, ""
                try:
                    new = self._add(await asyncio.to_thread(model_folders, self._path))
                except (OSError, ValueError) as error:
                    new = []
                    if (reason := str(error)) != before:
                        _log.warning("The models cannot be read.", extra={"error": reason})

    def _add(self, folders: Mapping[str, Path]) -> list[Versions]:
        """Add models that are new, and return them."""
        names = [name for name in folders if name not in self]
        for name in names:
            self[name] = Versions(name, folders[name], self._poll_seconds)
        return [self[name] for name in names]


def model_folders(path: Path) -> dict[str, Path]:
    """Folder of all versions of each model, by the name of the model."""
    if path.is_file():
        return _configured(path)
    children = sorted(child for child in path.iterdir() if not child.name.startswith("."))
    models = {_name(child): child for child in children if _has_versions(child)}
    return {_name(path): path} if _has_versions(path) or not models else models


def _name(folder: Path) -> str:
    """Name of a folder as text, where the file system has bytes that are not UTF-8 too."""
    return os.fsencode(folder.name).decode("utf-8", "replace")


def check(path: Path) -> None:
    """Raise a `ValueError` unless at least one model can be served."""
    if not path.is_dir() and not path.is_file():
        raise ValueError(
            "The model must be a folder that `keras-attn train` wrote, a folder of such folders, "
            f"or a `models.config`. Received: {path}."
        )
    if (path / "saved_model.pb").is_file():
        raise ValueError(
            "The model must be the folder of the versions (`train.py --out`), not the folder of "
            f"one version. Received: {path}. Use {path.parent}."
        )
    faults = []
    for folder in model_folders(path).values():
        try:
            newest_version(folder, of_translator=False)
            return
        except ValueError as error:
            faults.append(str(error))
    raise ValueError(" ".join(faults) or f"The file names no models. Received: {path}.")


def _has_versions(folder: Path) -> bool:
    """Whether a path is a folder with a version in it, whole or not, that can be read."""
    try:
        return bool(numbered(folder))
    except OSError:  # a file, or a folder of the file system such as `lost+found`
        return False


def _configured(path: Path) -> dict[str, Path]:
    """Folder of each model in a `models.config`; relative to the folder of the file."""
    config = model_server_config_pb2.ModelServerConfig()
    try:
        text_format.Parse(path.read_text(encoding="utf-8"), config)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise ValueError(f"`{path}` is not a `models.config`: {error}") from error
    folders: dict[str, Path] = {}
    for model in config.model_config_list.config:
        if not model.name or not model.base_path:
            raise ValueError(f"`{path}`: each model must have a `name` and a `base_path`.")
        if model.name in folders:
            raise ValueError(f"`{path}`: two models have the name {model.name!r}.")
        policy = model.model_version_policy
        if policy.WhichOneof("policy_choice") not in (None, "latest") or (
            policy.latest.num_versions > 1
        ):
            raise ValueError(
                f"`{path}`: the server serves the newest version of each model. Remove the "
                f"`model_version_policy` of {model.name!r}, or set `latest {{ num_versions: 1 }}`."
            )
        if model.version_labels:
            raise ValueError(
                f"`{path}`: versions have no labels. Remove the `version_labels` of {model.name!r}."
            )
        folders[model.name] = (path.parent / model.base_path).resolve()
    return folders
