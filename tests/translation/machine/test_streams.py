import os
import subprocess
import sys

import pytest

CODE = """
import sys
from keras_attn.translation.machine import streams
streams.print_utf8()
print("猫 → cat \\udcff")
print("猫", file=sys.stderr)
"""


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-16", "cp932", "utf-8"])
def test_output_is_utf8_in_every_locale(encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-c", CODE]
    ended = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert ended.stdout.decode("utf-8").strip() == "猫 → cat \\udcff"
    assert ended.stderr.decode("utf-8").strip().endswith("猫")
