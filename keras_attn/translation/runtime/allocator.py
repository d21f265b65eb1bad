"""Memory allocator: reuse memory between training steps, return what a start leaves behind."""

import ctypes
import os
from typing import Any

# Parameters of `mallopt` (<malloc.h>), with values in bytes.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_PARAMETERS = {_TRIM_THRESHOLD: 1 << 30, _TOP_PAD: 1 << 26, _MMAP_THRESHOLD: 1 << 25}


def keep_freed_memory() -> bool:
    """Make the C library keep freed memory, up to 1 GiB, instead of returning it to the system.

    By default, glibc returns large blocks to the system, and each training step spends about 5 % of
    its time on page faults (benchmarks/results/training.md). False if it is not glibc.
    """
    mallopt = _of_c_library("mallopt")
    return mallopt is not None and all(mallopt(*setting) == 1 for setting in _PARAMETERS.items())


def return_freed_memory() -> bool:
    """Return to the system what the C library keeps of freed memory; whether there was any.

    A server that has compiled its programs would hold about 0.3 GiB that it no longer needs
    (benchmarks/results/serving.md).
    """
    malloc_trim = _of_c_library("malloc_trim")
    return malloc_trim is not None and malloc_trim(0) == 1


def _of_c_library(name: str) -> Any:
    """Function of the C library, or None if it has none of this name."""
    return getattr(ctypes.CDLL(None), name, None) if os.name == "posix" else None
