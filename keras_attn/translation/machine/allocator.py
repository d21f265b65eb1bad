"""Memory that one training step frees, kept for the next."""

from __future__ import annotations

import ctypes
import os

# Of <malloc.h>: what to tell, and how much at once.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_KEPT = {_TRIM_THRESHOLD: 1 << 30, _TOP_PAD: 1 << 26, _MMAP_THRESHOLD: 1 << 25}


def keep_freed_memory() -> bool:
    """Let the C library keep what is freed, up to a GiB, and not give it back to the system.

    By itself it does give it back, and each step pays anew for the first touch of each page: a
    twentieth of its time (benchmarks/results/training.md).

    Returns:
        Whether this C library could be told; others than glibc go on as they do.

    Example:

    >>> keep_freed_memory() in (True, False)
    True
    """
    if os.name != "posix":
        return False
    tell = getattr(ctypes.CDLL(None), "mallopt", None)
    return tell is not None and all(tell(what, value) == 1 for what, value in _KEPT.items())
