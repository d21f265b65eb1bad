"""README: its Python runs as it stands, and three languages have one structure."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = {
    name: (ROOT / name).read_text("utf-8") for name in ("README.md", "README.ja.md", "README.ko.md")
}
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXTS["README.md"], flags=re.DOTALL | re.MULTILINE)


def test_layers_in_the_readme_run_as_they_stand(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    # Code for a trained translator runs in `.ci/readme`.
    scripts = [block for block in BLOCKS if "saved_models" not in block]
    names: dict = {}
    for script in scripts:
        exec(compile(script, "README.md", "exec"), names)
    assert names["weights"].shape == (1, 4, 8, 8)
    assert names["classifier"].output_shape == (None, 2)
    assert (tmp_path / "attention.png").stat().st_size > 1000


def structure(text):
    """Levels of headings, code without comments, pictures, figures of tables, and links."""
    code = re.findall(r"^```\w+\n.*?^```|^    [^\n]+", text, flags=re.DOTALL | re.MULTILINE)
    rows = re.findall(r"^\|.*\|$", text, flags=re.MULTILINE)
    prose = re.sub(r"`[^`]*`", "", "\n".join(rows))
    return {
        "headings": re.findall(r"^#+(?= )", text, flags=re.MULTILINE),
        "code": [re.sub(r"  # .*", "", block) for block in code],
        "commands in tables": [re.findall(r"`[^`]+`", row)[:1] for row in rows],
        "numbers in tables": sorted(re.findall(r"\d[\d,.]+\d", prose)),
        "links": {*re.findall(r"\]\(([^)]+)\)", text)} - {*TEXTS},
    }


@pytest.mark.parametrize("name", ["README.ja.md", "README.ko.md"])
def test_a_translation_has_the_sections_commands_and_numbers_of_the_english_text(name):
    expected, found = structure(TEXTS["README.md"]), structure(TEXTS[name])
    tutorial = f"docs/tutorials/{name[7:9]}/1_attention_pooling.ipynb"
    assert tutorial in found["links"]
    found["links"] -= {tutorial}
    for part in expected:
        assert found[part] == expected[part], part


def test_the_english_readme_is_short_and_japanese_paragraphs_are_one_line():
    assert len(TEXTS["README.md"].splitlines()) <= 130
    # A line break inside a Japanese sentence is shown as a space.
    assert not re.findall(
        r"[\u3040-\u30ff\u4e00-\u9fff、。]\n(?=[^\n\s#|!-])",
        re.sub(r"```.*?```|^    [^\n]*", "", TEXTS["README.ja.md"], flags=re.DOTALL | re.MULTILINE),
    )
