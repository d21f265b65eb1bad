from pathlib import Path

from processes import run_python

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
        ended = run_python("-c", CODE, FOLDER, PYTHONIOENCODING=encoding)
        assert ended.stdout.strip() == "猫 → cat \\udcff", encoding
        assert ended.stderr.strip().endswith("猫"), encoding
