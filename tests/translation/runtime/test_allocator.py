import ctypes
import gc
import sys
from pathlib import Path

import pytest
from processes import run_python

from keras_attn.translation.runtime import allocator

# By its folder: the package would import TensorFlow.
FOLDER = str(Path(allocator.__file__).parent)

COUNT_FAULTS = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from allocator import keep_freed_memory
told = {told}
def a_step():
    held = [bytearray(16 << 20) for _ in range(8)]
a_step(); a_step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    a_step()
print(told, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

HOLD = """
import sys
sys.path.insert(0, sys.argv[1])
from allocator import return_freed_memory
def in_use():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
held = [bytearray(100_000) for _ in range(1000)]
last = bytearray(100_000)  # keeps what is below it from being returned at once
del held
before = in_use()
print(return_freed_memory(), before - in_use())
"""


def printed(code):
    """Whether the C library could be told, and a number, as a process of its own prints them."""
    told, number = run_python("-c", code, FOLDER).stdout.split()
    return told == "True", int(number)


def test_the_pages_of_a_step_are_touched_for_the_first_time_once():
    _, before = printed(COUNT_FAULTS.format(told="False"))
    told, after = printed(COUNT_FAULTS.format(told="keep_freed_memory()"))
    # Where the C library cannot be told, it goes on as it does.
    assert after < 0.1 * before if told else after > 0.5 * before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_freed_memory_is_returned_to_the_system():
    told, returned = printed(HOLD)
    assert not told or returned > 80_000  # KiB


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    for name in ("posix", "nt"):
        monkeypatch.setattr(allocator.os, "name", name)
        assert not allocator.keep_freed_memory()
        assert not allocator.return_freed_memory()


def test_the_collector_skips_what_a_corpus_leaves():
    before = gc.get_freeze_count()
    with pytest.raises(KeyError), allocator.without_collector():
        assert not gc.isenabled()
        held = [[number] for number in range(1000)]
        raise KeyError
    assert gc.isenabled() and gc.get_freeze_count() >= before + len(held)
    gc.unfreeze()
