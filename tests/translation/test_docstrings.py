import doctest
import importlib
from pathlib import Path

import pytest

from keras_attn import translation

FOLDER = Path(translation.__file__).parent

WITH_EXAMPLES = [
    ".".join(path.relative_to(FOLDER).with_suffix("").parts)
    for path in sorted(FOLDER.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(f"keras_attn.translation.{name}"))
    assert result.failed == 0
    assert result.attempted > 0
