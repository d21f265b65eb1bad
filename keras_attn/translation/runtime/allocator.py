"""Memory: reuse it between training steps, return what a start leaves behind, skip what stays."""

import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Parameters of `mallopt` (<malloc.h>), with values in bytes.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_PARAMETERS = {_TRIM_THRESHOLD: 1 << 30, _TOP_PAD: 1 << 26, _MMAP_THRESHOLD: 1 << 25}


def keep_freed_memory() -> bool:
    """Make glibc keep freed memory, up to 1 GiB; False if the C library is another one.

    Otherwise each step spends about 5% of its time on page faults (benchmarks/results/training.md).
    """
    mallopt = _of_c_library("mallopt")
    return mallopt is not None and all(mallopt(*setting) == 1 for setting in _PARAMETERS.items())


def return_freed_memory() -> bool:
    """Return to the system what the C library keeps of freed memory; whether there was any."""
    malloc_trim = _of_c_library("malloc_trim")
    return malloc_trim is not None and malloc_trim(0) == 1


@contextmanager
def without_collector() -> Iterator[None]:
    """Context for millions of new objects that stay, which Python's collector skips from then on.

    It would look at all of them again and again: a fifth of the time in which a corpus is read.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _of_c_library(name: str) -> Any:
    """Function of the C library, or None if it has none of this name."""
    return getattr(ctypes.CDLL(None), name, None) if os.name == "posix" else None
