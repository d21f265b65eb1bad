"""Hot swap of model versions: serve the newest version in a folder.

As in TensorFlow Serving, a version is a folder whose name is a number.

- If the newest version is deleted, the next lower version is served. If all versions are deleted,
  the last one is still served.
- A new version compiles the programs for short texts before it replaces the served version, and
  those for longer texts while it answers. Until then, longer texts are translated by operations.
  The first version is served at once, because no other can answer.
- A version that is not whole, such as a copy that was cut off, is skipped until its files change.
- A replaced version stays loaded until its last request is answered.
"""

import asyncio
import gc
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from keras_attn.serving.errors import RequestError
from keras_attn.serving.servable import Servable
from keras_attn.translation.versions import fault, numbered

_log = logging.getLogger(__name__)


class VersionStatus(NamedTuple):
    """Version number, state (`ModelVersionStatus.State` of TensorFlow Serving), error message."""

    version: int
    state: str
    error: str = ""


class Versions:
    """Versions of a model: loads new versions and releases replaced ones.

    Attributes:
        current: Served version, or None before the first version is loaded.
        is_warm: Whether a served version has compiled the programs for short texts.
        is_settled: Whether each version that was there at the start was loaded or skipped, down to
            the one that is served.
    """

    def __init__(self, name: str, folder: Path, poll_seconds: float):
        self.name = name
        self.current: Servable | None = None
        self.is_warm = False
        self.is_settled = False
        self._poll_seconds = poll_seconds
        self._folder = folder
        self._servables: dict[int, Servable] = {}
        self._num_users: dict[Servable, int] = {}
        self._statuses: dict[int, VersionStatus] = {}
        # Fingerprints of the files of versions that could not be loaded.
        self._broken: dict[int, object] = {}
        # Warm-up requests of the served version that it has not run yet.
        self._left: Iterator[tuple[str, Mapping[str, Any]]] = iter(())

    def statuses(self, version: int | None) -> list[VersionStatus]:
        """Statuses of one version, or of all versions seen so far, newest first."""
        found = [one for one in self.seen() if version in (None, one.version)]
        if not found:
            raise no_versions(self.name, version)
        return found

    def seen(self) -> list[VersionStatus]:
        """Statuses of all versions seen so far, newest first."""
        return [self._statuses[number] for number in sorted(self._statuses, reverse=True)]

    @contextmanager
    def use(self, version: int | None) -> Iterator[Servable]:
        """Context manager that keeps a version, or the served version, loaded within the block."""
        servable = self.current if version is None else self._servables.get(version)
        if servable is None:
            raise not_found(self.name, version)
        self._num_users[servable] += 1
        try:
            yield servable
        finally:
            self._num_users[servable] -= 1
            self._release(servable)

    async def watch(self) -> None:
        """Serve the newest version until cancelled."""
        reason = ""
        while True:
            before, reason = reason, ""
            try:
                await self.poll()
                self.is_settled = True
                await self._warm_up_on()
            except Exception as error:  # of a file system, or a warm-up file: others are served on
                if (reason := str(error)) != before:
                    extra = {"model": self.name, "error": reason}
                    _log.warning("The folder cannot be read.", extra=extra)
            self.is_settled = True
            await asyncio.sleep(self._poll_seconds)

    async def poll(self) -> None:
        """Load the newest loadable version, unless it is already served."""
        for number, folder in numbered(self._folder).items():
            try:
                (folder / "saved_model.pb").stat()
            except (FileNotFoundError, NotADirectoryError):  # a copy that has just begun
                continue
            except OSError:  # `fault` says why
                pass
            if self.current and self.current.version == number:
                break
            fingerprint = _fingerprint(folder)
            if self._broken.get(number) == fingerprint:
                continue
            reason = fault(folder, of_translator=False)
            if reason:
                extra = {"model": self.name, "version": number, "reason": reason}
                _log.warning("A version is not whole and is not loaded.", extra=extra)
            else:
                reason = await self._load(number, folder)
            if not reason:
                break
            self._broken[number] = fingerprint
            self._statuses[number] = VersionStatus(number, "END", reason)

    async def _load(self, number: int, folder: Path) -> str:
        """Load a version and serve it, or say why it cannot be served."""
        self._statuses[number] = VersionStatus(number, "LOADING")
        servable = None
        try:
            servable = await asyncio.to_thread(Servable, folder)
            if self.current is None:
                self._serve(servable)
            requests = servable.warm_up_requests()
            # One thread call for each request, so that a shutdown does not wait for all requests.
            for request in requests:
                await asyncio.to_thread(servable.warm_up, *request)
                if servable.has_first_lengths:
                    break
        except Exception as error:  # TensorFlow raises many types for an invalid SavedModel
            if servable and servable is self.current:
                self.current = None
                self._retire(servable)
            extra = {"model": self.name, "version": number}
            _log.exception("A version cannot be loaded.", extra=extra)
            return str(error) or repr(error)
        self.is_warm = True
        self._left = requests
        if servable is not self.current:
            self._serve(servable)
        return ""

    async def _warm_up_on(self) -> None:
        """Run the warm-up requests that are left of the served version, while it answers."""
        for name, inputs in self._left:
            if (servable := self.current) is None:
                return
            try:
                await asyncio.to_thread(servable.warm_up, name, inputs)
            except Exception:  # what fails here fails for a client with its own message
                extra = {"model": self.name, "version": servable.version}
                _log.exception("A warm-up request has failed.", extra=extra)

    def _serve(self, servable: Servable) -> None:
        before, self.current = self.current, servable
        self._servables[servable.version] = servable
        self._num_users[servable] = 0
        self._statuses[servable.version] = VersionStatus(servable.version, "AVAILABLE")
        self._say("A version is served.", servable)
        if before:
            self._retire(before)

    def _retire(self, servable: Servable) -> None:
        self._statuses[servable.version] = VersionStatus(servable.version, "UNLOADING")
        del self._servables[servable.version]
        self._release(servable)

    def _release(self, servable: Servable) -> None:
        """Release a version that is neither served nor in use."""
        if servable is self.current or self._num_users[servable]:
            return
        del self._num_users[servable]
        if servable.version not in self._servables:  # else it was loaded again
            self._statuses[servable.version] = VersionStatus(servable.version, "END")
        self._say("A version is unloaded.", servable)
        # Functions of a SavedModel form reference cycles, which only the garbage collector frees.
        asyncio.get_running_loop().call_soon(gc.collect)

    def _say(self, message: str, servable: Servable) -> None:
        _log.info(message, extra={"model": self.name, "version": servable.version})


def not_found(model: str, version: int | None) -> RequestError:
    """Error for a version that is not loaded, or a model that is not served."""
    wanted = f"Latest({model})" if version is None else f"Specific({model}, {version})"
    return RequestError(f"Servable not found for request: {wanted}", HTTPStatus.NOT_FOUND)


def no_versions(model: str, version: int | None = None) -> RequestError:
    """Error for a request for the status of a version that was not seen, or of no model."""
    wanted = "any versions" if version is None else f"version {version}"
    return RequestError(f"Could not find {wanted} of model {model}", HTTPStatus.NOT_FOUND)


def _fingerprint(folder: Path) -> object:
    """Fingerprint of the files of a version: sizes, times of changes of contents and of rights."""
    files = [os.stat(path) for path in folder.rglob("*") if os.path.isfile(path)]
    return sorted((file.st_size, file.st_mtime_ns, file.st_ctime_ns) for file in files)
