"""Each example is listed in the README and has a test."""

import ast
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_each_example_is_listed_and_each_script_has_a_test():
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for path in EXAMPLES.iterdir():
        if path.name != "README.md" and not path.name.startswith(("_", ".")):
            assert f"| [`{path.name}`](" in readme, path.name
    for path in EXAMPLES.glob("*.py"):
        assert Path(__file__).with_name(f"test_{path.stem}.py").exists()
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path.name
