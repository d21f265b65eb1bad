"""Cache folder of the user for downloaded archives and prepared data sets."""

import os
from pathlib import Path

import platformdirs

# Environment variable that selects another cache folder, for example on a larger disk.
VARIABLE = "KERAS_ATTN_CACHE"


def folder() -> Path:
    """Cache folder; created if it does not exist.

    Raises:
        ValueError: If the folder cannot be created.
    """
    path = Path(os.environ.get(VARIABLE) or platformdirs.user_cache_dir("keras_attn")).expanduser()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"The cache folder cannot be created ({error.strerror}). Received: {path}. "
            f"Set the environment variable {VARIABLE} to a writable folder."
        ) from error
    return path
