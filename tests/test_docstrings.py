import ast
import doctest
import importlib
from pathlib import Path

import keras_attn

MODULES = [
    "keras_attn.attention_grid",
    "keras_attn.decoder",
    "keras_attn.decoder_block",
    "keras_attn.distances",
    "keras_attn.distribution",
    "keras_attn.embedding",
    "keras_attn.encoder",
    "keras_attn.feed_forward",
    "keras_attn.gaussian",
    "keras_attn.multi_head",
    "keras_attn.plots",
    "keras_attn.positions",
    "keras_attn.relative",
    "keras_attn.residual",
    "keras_attn.rotary",
    "keras_attn.scoring",
    "keras_attn.softmax",
    "keras_attn.transformer",
]


def test_examples_of_docstrings_run():
    results = {name: doctest.testmod(importlib.import_module(name)) for name in MODULES}
    faults = {name: result for name, result in results.items() if result.failed}
    faults |= {name: result for name, result in results.items() if not result.attempted}
    assert faults == {}


def docstrings():
    """File, name and docstring of everything that has one in the package."""
    for path in sorted(Path(keras_attn.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                if text := ast.get_docstring(node):
                    yield path.name, getattr(node, "name", ""), text


def test_docstrings_begin_with_the_name_of_the_thing():
    found = list(docstrings())
    assert len(found) > 800
    questions = ("What", "Which", "How", "Whatever", "Where", "Who")
    assert [one for one in found if one[2].split()[0] in questions] == []
