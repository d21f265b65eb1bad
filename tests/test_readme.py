"""The README's Python, as it stands there."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def test_layers_in_the_readme_run_as_they_stand(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    # Those of the translator need a trained one: tests/test_train.py has them.
    scripts = [block for block in BLOCKS if "saved_models" not in block]
    names: dict = {}
    for script in scripts:
        exec(compile(script, "README.md", "exec"), names)
    assert names["weights"].shape == (1, 4, 8, 8)
    assert names["classifier"].output_shape == (None, 2)
    assert (tmp_path / "attention.png").stat().st_size > 1000
