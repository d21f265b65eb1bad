"""Resumable downloads into the cache: progress, verification and one-sentence errors."""

import contextlib
import errno
import hashlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import requests
from keras_attn_data import cache
from requests.adapters import HTTPAdapter
from rich import progress
from rich.console import Console
from urllib3.util import Retry

TRIES = 3  # of a connection that ends early without a new byte
PAUSE = 2.0  # seconds before the next of these
TIMEOUT = (20, 60)  # seconds to connect, and between two blocks
BLOCK = 1 << 16

# A failure that another try may mend, besides refused connections.
_BUSY = Retry(
    total=3,
    connect=1,
    backoff_factor=1,
    status_forcelist=(429, 500, 502, 503, 504),
    raise_on_status=False,
    respect_retry_after_header=False,  # which may be an hour
)


class DownloadError(OSError):
    """A file cannot be downloaded; the message says why, and what to do."""


def fetch(url: str, path: Path, sha256: str = "", session: Any = None) -> None:
    """Download a file unless it is there.

    A download that was interrupted is resumed, also by another run. A second process that wants
    the same file waits for the first.

    Args:
        url: Address of the file.
        path: Path in the cache; `path` with `.part` holds what an interrupted download left.
        sha256: Published hash, or nothing. `verify` compares it.
        session: Session of `requests` or of the copy in pip; the default has the proxy and the
            certificates of the environment.

    Raises:
        DownloadError: If the file cannot be downloaded or the disk is full.
    """
    part = path.with_name(f"{path.name}.part")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(part):
            if not path.exists():
                _complete(session or new_session(), url, path, part, sha256)


def verify(path: Path, sha256: str) -> Path:
    """Path of a file with this hash.

    Raises:
        ValueError: If the file has another hash. The file is not deleted.
    """
    received = _sha256(path)
    if received != sha256:
        raise ValueError(
            f"The archive at {path} must be {path.name} as published, with sha256={sha256}. "
            f"Received: sha256={received}. Delete the file to download the archive again."
        )
    return path


def new_session() -> requests.Session:
    """Session that asks a busy server again."""
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=_BUSY))
    return session


def reason(error: BaseException) -> str:
    """Short reason of a failed request: the innermost system error, or type and first line."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}".rstrip()
    inner: BaseException | None = error
    while inner:  # the exceptions of `requests` hold those of `urllib3`, and so on
        if isinstance(inner, OSError) and inner.strerror:
            return inner.strerror
        inner = inner.__cause__ or inner.__context__
    text = str(error)
    return text if type(error) is OSError else f"{type(error).__name__}: {text}".splitlines()[0]


class _Version(NamedTuple):
    """Version of a file on a server, by its address, validators and size."""

    url: str = ""
    etag: str = ""
    modified: str = ""
    size: int | None = None

    @classmethod
    def read(cls, part: Path) -> "_Version":
        try:
            return cls(**json.loads(_beside(part).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return cls()

    @property
    def condition(self) -> dict[str, str]:
        """Header that makes a server send the whole file if it has changed."""
        strong = "" if self.etag.startswith("W/") else self.etag
        return {"If-Range": strong or self.modified} if strong or self.modified else {}


def _complete(session: Any, url: str, path: Path, part: Path, sha256: str) -> None:
    """Download into `part` and rename it; start again once if parts of two versions were joined."""
    try:
        resumed = part.stat().st_size > 0
        _download(session, url, part, is_known=bool(sha256))
        if sha256 and resumed and _sha256(part) != sha256:
            _empty(part)
            _download(session, url, part, is_known=True)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise _failure(url, path, error) from error
        raise DownloadError(
            f"The disk of {path.parent} is full: {path.name} is not complete. Free some space and "
            f"run again, or set the environment variable {cache.VARIABLE} to a folder elsewhere."
        ) from error
    except Exception as error:  # pip's session has exceptions of its own
        raise _failure(url, path, error) from error
    finally:
        if not part.stat().st_size:
            part.unlink()
            _beside(part).unlink(missing_ok=True)
    part.replace(path)
    _beside(part).unlink(missing_ok=True)


def _failure(url: str, path: Path, error: Exception) -> DownloadError:
    unanswered = (
        "" if getattr(error, "response", None) is not None else " (perhaps there is no network)"
    )
    return DownloadError(
        f"{path.name} cannot be downloaded from {urlsplit(url).netloc}: {reason(error)}{unanswered}"
        f". Run again to go on, or download {url} elsewhere and copy it to {path}."
    )


def _download(session: Any, url: str, part: Path, is_known: bool) -> None:
    """Append to `part` until it is whole. `is_known`: a hash will tell whether it is the file."""
    tries = limit = TRIES
    furthest = part.stat().st_size
    while tries:
        try:
            if _append(session, url, part, is_known):
                return
        except _Restart:
            _empty(part)
            furthest, limit = 0, limit - 1
            tries = limit
            continue
        tries = limit if part.stat().st_size > furthest else tries - 1
        furthest = max(furthest, part.stat().st_size)
        time.sleep(PAUSE if tries < limit else 0)
    raise OSError("the connection ended early")


class _Restart(Exception):
    """Signal that a partial file belongs to another version and must be downloaded again."""


def _append(session: Any, url: str, part: Path, is_known: bool) -> bool:
    """Append to a file what it lacks; return whether it is whole then."""
    seen = _Version.read(part)
    start = part.stat().st_size
    if start and not is_known and seen.url != url:
        raise _Restart
    # Without compression: a server may take the archive for a compressed page.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers |= {"Range": f"bytes={start}-"} | seen.condition
    with session.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        now = _version(url, response, start)
        if response.status_code == 416:  # nothing is lacking, or the file is shorter now
            if now.size == start or (now.size is None and is_known):
                return True
            raise _Restart
        response.raise_for_status()
        if response.status_code != 206:
            start = 0
        elif not is_known and not _is_same(seen, now):  # a server without If-Range
            raise _Restart
        _reserve(part, now.size, start)
        _beside(part).write_text(json.dumps(now._asdict()), encoding="utf-8")
        is_ended = _write(response, part, start, now.size)
    return part.stat().st_size == now.size if now.size is not None else is_ended


def _version(url: str, response: Any, start: int) -> _Version:
    """Version of a response, with the size of the whole file."""
    total = response.headers.get("Content-Range", "").rpartition("/")[2]
    size = int(total) if total.isdigit() else None
    if size is None and response.status_code in (200, 206):
        length = response.headers.get("Content-Length", "")
        rest = start if response.status_code == 206 else 0
        size = rest + int(length) if length.isdigit() else None
    headers = response.headers
    return _Version(url, headers.get("ETag", ""), headers.get("Last-Modified", ""), size)


def _is_same(seen: _Version, now: _Version) -> bool:
    """Whether nothing differs that both responses name, and at least one thing is equal."""
    both = [(a, b) for a, b in zip(seen[1:], now[1:], strict=True) if a and b]
    return bool(both) and all(a == b for a, b in both)


def _reserve(part: Path, size: int | None, start: int) -> None:
    """Refuse a download that the disk has no space for."""
    lacking = (size or 0) - start
    if lacking > shutil.disk_usage(part.parent).free:
        raise OSError(errno.ENOSPC, "no space left")


def _write(response: Any, part: Path, start: int, size: int | None) -> bool:
    """Write the body from `start` on; return whether the connection ended as it should."""
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
    )
    name = part.name.removesuffix(".part")
    blocks = _blocks(response)
    with (
        part.open("r+b") as file,
        progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar,
    ):
        file.truncate(start)
        file.seek(start)
        task = bar.add_task(name, total=size, completed=start)
        while block := next(blocks, b""):
            if isinstance(block, Exception):
                return False
            file.write(block)
            bar.advance(task, len(block))
    return True


def _blocks(response: Any) -> Iterator[Any]:
    """Blocks as they are sent, not decompressed; an exception in place of a block that failed."""
    try:
        yield from response.raw.stream(BLOCK, decode_content=False)
    except Exception as error:  # of `urllib3`, or of the copy in pip
        yield error


@contextlib.contextmanager
def _locked(part: Path) -> Iterator[None]:
    """Wait for another process that downloads the same file."""
    with part.open("ab") as file:
        try:
            import fcntl  # missing on Windows: nothing waits there
        except ImportError:
            file.close()  # an open file cannot be renamed there
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
            part.touch()  # the first process has failed and removed it
        yield
    with contextlib.suppress(OSError):  # made by this function, where another was quicker
        if not part.stat().st_size:
            part.unlink()


def _empty(part: Path) -> None:
    part.open("wb").close()


def _beside(part: Path) -> Path:
    """Path of the file with the version that a part belongs to."""
    return part.with_name(f"{part.name}.json")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
