"""Where fetched archives and prepared data sets lie: the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

# Names another folder, for instance on a larger disk.
VARIABLE = "KERAS_ATTN_CACHE"


def folder() -> Path:
    """The cache folder, made if it is not there.

    Raises:
        ValueError: If it cannot be made.
    """
    path = Path(os.environ.get(VARIABLE) or platformdirs.user_cache_dir("keras_attn")).expanduser()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"The cache folder cannot be made ({error.strerror}). Received: {path}. "
            f"Set the environment variable {VARIABLE} to a folder that can be written."
        ) from error
    return path
