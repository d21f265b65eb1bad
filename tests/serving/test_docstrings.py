import doctest
import importlib
from pathlib import Path

import pytest

from keras_attn import serving

FOLDER = Path(serving.__file__).parent

WITH_EXAMPLES = [
    path.stem for path in sorted(FOLDER.glob("*.py")) if ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(f"keras_attn.serving.{name}"))
    assert result.failed == 0
    assert result.attempted > 0
