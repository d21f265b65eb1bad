import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["batches", "objective", "training_loss"])
def test_examples_of_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(f"keras_attn.translation.{name}"))
    assert result.failed == 0
    assert result.attempted > 0
