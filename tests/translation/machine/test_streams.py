import os
import subprocess
import sys
from pathlib import Path

import keras_attn

FOLDER = Path(keras_attn.__file__).parent / "translation" / "machine"
# By its folder: the package would import TensorFlow.
CODE = """
import sys
sys.path.insert(0, sys.argv[1])
import streams
streams.print_utf8()
print("猫 → cat \\udcff")
print("猫", file=sys.stderr)
"""


def test_output_is_utf8_in_every_locale():
    for encoding in ("cp1252", "ascii", "utf-16", "cp932", "utf-8"):
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        command = [sys.executable, "-c", CODE, str(FOLDER)]
        ended = subprocess.run(command, capture_output=True, env=environment, check=True)
        assert ended.stdout.decode("utf-8").strip() == "猫 → cat \\udcff", encoding
        assert ended.stderr.decode("utf-8").strip().endswith("猫"), encoding
