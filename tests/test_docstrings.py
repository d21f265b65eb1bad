import ast
import doctest
import importlib
from pathlib import Path

import keras_attn

FOLDER = Path(keras_attn.__file__).parent


def module_of(path):
    return ".".join(["keras_attn", *path.relative_to(FOLDER).with_suffix("").parts])


def test_examples_of_docstrings_run():
    results = {
        path.stem: doctest.testmod(importlib.import_module(module_of(path)))
        for path in [
            *FOLDER.glob("*.py"),
            *FOLDER.glob("layers/*.py"),
            *FOLDER.glob("plots/*.py"),
            *FOLDER.glob("training/*.py"),
        ]
        if ">>>" in path.read_text(encoding="utf-8")
    }
    assert len(results) > 15
    assert {name: r for name, r in results.items() if r.failed or not r.attempted} == {}


def docstrings():
    """File, name and docstring of everything that has one in the package."""
    for path in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                if text := ast.get_docstring(node):
                    yield path.name, getattr(node, "name", ""), text


def test_docstrings_begin_with_the_name_of_the_thing():
    found = list(docstrings())
    assert len(found) > 800
    questions = ("What", "Which", "How", "Whatever", "Where", "Who")
    assert [one for one in found if one[2].split()[0] in questions] == []
