import doctest
import importlib
from pathlib import Path

import keras_attn

FOLDER = Path(keras_attn.__file__).parent
# JAX is optional: `test_compiled_steps.py` runs the example of this module.
ON_JAX = "compiled_steps.py"


def test_examples_of_docstrings_run():
    results = {
        name: doctest.testmod(importlib.import_module(f"keras_attn.{name}"))
        for package in ("translation", "serving")
        for path in sorted((FOLDER / package).rglob("*.py"))
        if path.name != ON_JAX
        and ">>>" in path.read_text(encoding="utf-8")
        and (name := ".".join(path.relative_to(FOLDER).with_suffix("").parts))
    }
    faults = [name for name, found in results.items() if found.failed or not found.attempted]
    assert results and not faults, faults
