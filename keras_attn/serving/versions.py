"""The versions of a model in a folder: the newest is served, an old one until its last request.

As in TensorFlow Serving, a version is a folder whose name is a number. Where the newest is taken
away again, the one below it is served; where all are, the last one goes on. A version answers the
requests that came with it, so that nobody waits while something is compiled, before it takes the
place of another. The first is served at once, for there is none to answer meanwhile.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

from keras_attn.serving.documents import VersionStatus
from keras_attn.serving.errors import RequestError
from keras_attn.serving.servable import Servable

_log = logging.getLogger(__name__)


class Versions:
    """Loads what appears in a folder, and lets go of what is not served any more.

    Args:
        folder: Of the versions; its name is that of the model.
        poll_seconds: Between two looks into it.

    Attributes:
        name: Of the model.
        is_warm: Whether what is served has answered the requests that came with it.
    """

    def __init__(self, folder: Path, poll_seconds: float):
        self.folder = folder
        self.name = folder.name
        self.is_warm = False
        self._poll_seconds = poll_seconds
        self._current: Servable | None = None
        self._servables: dict[int, Servable] = {}
        self._num_users: dict[Servable, int] = {}
        self._statuses: dict[int, VersionStatus] = {}
        # How the files of a version looked that could not be loaded.
        self._broken: dict[int, object] = {}

    @property
    def current(self) -> Servable | None:
        """What is served, if anything is loaded yet."""
        return self._current

    def statuses(self, version: int | None) -> list[VersionStatus]:
        """Of a version, or of all that were ever seen, newest first.

        Raises:
            RequestError: If none was.
        """
        numbers = sorted(self._statuses, reverse=True)
        if version is not None:
            numbers = [number for number in numbers if number == version]
        if not numbers:
            wanted = "any versions" if version is None else f"version {version}"
            raise RequestError(
                f"Could not find {wanted} of model {self.name}", HTTPStatus.NOT_FOUND
            )
        return [self._statuses[number] for number in numbers]

    @contextmanager
    def use(self, version: int | None) -> Iterator[Servable]:
        """A version, which stays loaded within the block: one by its number, or what is served.

        Raises:
            RequestError: If it is not loaded.
        """
        servable = self._current if version is None else self._servables.get(version)
        if servable is None:
            wanted = f"Latest({self.name})"
            if version is not None:
                wanted = f"Specific({self.name}, {version})"
            raise RequestError(f"Servable not found for request: {wanted}", HTTPStatus.NOT_FOUND)
        self._num_users[servable] += 1
        try:
            yield servable
        finally:
            self._num_users[servable] -= 1
            self._let_go(servable)

    async def watch(self) -> None:
        """Serve what is newest, until cancelled."""
        while True:
            try:
                await self.look()
            except OSError as error:
                _log.warning("The folder cannot be read.", extra={"error": str(error)})
            await asyncio.sleep(self._poll_seconds)

    async def look(self) -> None:
        """Load the newest version that can be loaded, if it is not what is served.

        Raises:
            OSError: If the folder cannot be read.
        """
        for number, folder in sorted(_version_folders(self.folder).items(), reverse=True):
            if self._current and self._current.version == number:
                break
            if number in self._broken and self._broken[number] == _looks(folder):
                continue
            if await self._load(number, folder):
                break

    async def _load(self, number: int, folder: Path) -> bool:
        looks = _looks(folder)
        self._statuses[number] = VersionStatus(number, "LOADING")
        servable = None
        try:
            servable = await asyncio.to_thread(Servable, folder)
            if self._current is None:
                self._serve(servable)
            # One by one, so that a server that is told to stop need not wait for all of them.
            for request in servable.warm_up_requests():
                await asyncio.to_thread(servable.ask, *request)
        except Exception as error:  # whatever TensorFlow makes of a folder that is no model
            if servable and servable is self._current:
                self._current = None
                self._retire(servable)
            self._broken[number] = looks
            self._statuses[number] = VersionStatus(number, "END", str(error))
            _log.exception("A version cannot be loaded.", extra={"version": number})
            return False
        self.is_warm = True
        if servable is not self._current:
            self._serve(servable)
        return True

    def _serve(self, servable: Servable) -> None:
        before, self._current = self._current, servable
        self._servables[servable.version] = servable
        self._num_users[servable] = 0
        self._statuses[servable.version] = VersionStatus(servable.version, "AVAILABLE")
        _log.info("A version is served.", extra={"version": servable.version})
        if before:
            self._retire(before)

    def _retire(self, servable: Servable) -> None:
        self._statuses[servable.version] = VersionStatus(servable.version, "UNLOADING")
        del self._servables[servable.version]
        self._let_go(servable)

    def _let_go(self, servable: Servable) -> None:
        """Forget a version that is not served any more and that nobody uses."""
        if servable is self._current or self._num_users[servable]:
            return
        del self._num_users[servable]
        self._statuses[servable.version] = VersionStatus(servable.version, "END")
        _log.info("A version is unloaded.", extra={"version": servable.version})
        # Functions of a SavedModel refer to each other, so nothing but the collector frees them.
        asyncio.get_running_loop().call_soon(gc.collect)


def _version_folders(folder: Path) -> dict[int, Path]:
    """The folders of versions, by number."""
    return {
        int(path.name): path
        for path in folder.iterdir()
        if path.name.isascii() and path.name.isdecimal() and (path / "saved_model.pb").is_file()
    }


def _looks(folder: Path) -> object:
    """What changes when the files of a version do."""
    files = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sorted((file.st_size, file.st_mtime_ns) for file in files)
