import subprocess
import sys

import pytest

from keras_attn.translation.allocator import keep_freed_memory

COUNT_FAULTS = """
import resource
from keras_attn.translation.allocator import keep_freed_memory
{first}
def a_step():
    held = [bytearray(16 << 20) for _ in range(8)]
a_step(); a_step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    a_step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(first):
    command = [sys.executable, "-c", COUNT_FAULTS.format(first=first)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not keep_freed_memory(), reason="only glibc can be told")
def test_the_pages_of_a_step_are_touched_for_the_first_time_once():
    assert faults("keep_freed_memory()") < 0.1 * faults("")
