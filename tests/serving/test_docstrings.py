import doctest
import importlib
from pathlib import Path

from keras_attn import serving


def test_examples_of_docstrings_run():
    for path in sorted(Path(serving.__file__).parent.glob("*.py")):
        if ">>>" in path.read_text(encoding="utf-8"):
            result = doctest.testmod(importlib.import_module(f"keras_attn.serving.{path.stem}"))
            assert result.failed == 0 and result.attempted > 0, path.stem
