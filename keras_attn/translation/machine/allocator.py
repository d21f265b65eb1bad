"""Memory allocator settings: reuse memory between training steps."""

from __future__ import annotations

import ctypes
import os

# Parameters of `mallopt` (<malloc.h>), with values in bytes.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_PARAMETERS = {_TRIM_THRESHOLD: 1 << 30, _TOP_PAD: 1 << 26, _MMAP_THRESHOLD: 1 << 25}


def keep_freed_memory() -> bool:
    """Make the C library keep freed memory, up to 1 GiB, instead of returning it to the system.

    By default, glibc returns large blocks to the system, and each training step spends about 5 % of
    its time on page faults (benchmarks/results/training.md).

    Returns:
        True if the settings were applied; False if the C library is not glibc.

    Example:

    >>> keep_freed_memory() in (True, False)
    True
    """
    if os.name != "posix":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and all(mallopt(*setting) == 1 for setting in _PARAMETERS.items())
