"""The stored notebooks of the tutorials, and their pages."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "tutorials"
NAMES = sorted(path.stem for path in FOLDER.glob("[0-9]_*.py"))
STORED = [path.relative_to(FOLDER).as_posix() for path in sorted(FOLDER.rglob("*.ipynb"))]
CODE = "```{.python .input}\nplot()\n```"
PRINTED = "```{.text .output}\n1\n```"


@pytest.fixture(scope="module")
def tutorials(building):
    import tutorials

    return tutorials


@pytest.fixture(scope="module")
def page(building):
    import pages

    return pages.page


@pytest.fixture
def source(tutorials, tmp_path, monkeypatch):
    """Write a tutorial in an empty folder; returns its cells."""
    monkeypatch.setattr(tutorials, "FOLDER", tmp_path)

    def write(text):
        (tmp_path / "1_one.py").write_text(text, encoding="utf-8")
        return tutorials.read_source("1_one")

    return write


def code_cell(source, *outputs, tags=()):
    metadata = {"tags": list(tags)}
    return {"cell_type": "code", "source": source, "outputs": outputs, "metadata": metadata}


def test_words_code_prints_and_pictures_of_a_page_follow_each_other(page):
    words = "# Scores\n\n## A `curve`\n\n[Next](2_heads.ipynb#mask) <details>"
    printed = {"output_type": "stream", "name": "stdout", "text": "1\n"}
    picture = {"output_type": "display_data", "data": {"image/png": "cGljdHVyZQ=="}}
    cells = [
        {"cell_type": "markdown", "source": words},
        code_cell("import missing", tags=["install"]),
        code_cell("print(1)", printed),
        code_cell("plot()", picture, tags=["plot"]),
        code_cell("plot()", printed, tags=["answer"]),
    ]
    made, pictures = page({"cells": cells}, "1_scores", "images", "ja")
    assert made == (
        "# Scores\n\n## A `curve`\n\n[Next](2_heads.md#mask) "
        '<details class="answer" markdown="1">\n\n'
        "```{.python .input}\nprint(1)\n```\n\n"
        f"{PRINTED}\n\n"
        '<details class="plot" markdown="1"><summary>図のコード</summary>\n\n'
        f"{CODE}\n\n</details>\n\n![A curve](images/1_scores_1.png)\n\n"
        '<details class="answer" markdown="1"><summary>コードによる解答</summary>\n\n'
        f"{CODE}\n\n{PRINTED}\n\n</details>\n"
    )
    assert pictures == {"1_scores_1.png": b"picture"}


def test_a_source_has_words_in_languages_and_code_once(source):
    text = '# %% [markdown]\n# # One\n\n# %% [markdown] lang="ja"\n# # 一\n\n'
    text += '# %% tags=["plot"]\nx = 1\n'
    words, code = source(text)
    assert words.words == {"en": "# One", "ja": "# 一"}
    assert (code.code, code.tags) == ("x = 1", ["plot"])
    with pytest.raises(ValueError, match=r"the languages \['en', 'ja'\].*Received: \['en'\]"):
        source(text + "\n# %% [markdown]\n# Two\n")
    with pytest.raises(ValueError, match="Received: '# %% words'"):
        source(text + "\n# %% words\n")


def test_stored_notebooks_have_the_code_and_the_words_of_their_sources(tutorials):
    expected = {
        tutorials.path_of(name, language).relative_to(FOLDER).as_posix(): (name, language)
        for name in NAMES
        for language in tutorials.LANGUAGES
    }
    assert sorted(expected) == sorted(STORED)
    for path, source in expected.items():
        stored = tutorials.read_notebook(FOLDER / path)
        made = tutorials.unexecuted(*source)
        for cell in [*stored["cells"], *made["cells"]]:
            cell.pop("outputs", None)
        assert stored == made, f"{path} is old. Run `python docs/building/tutorials.py`."


@pytest.mark.parametrize("path", STORED)
def test_a_stored_notebook_is_small_and_has_nothing_of_the_machine_that_executed_it(path):
    text = (FOLDER / path).read_text(encoding="utf-8")
    assert len(text.encode()) < 400_000
    assert not re.search(r'["\s](/[\w.-]+){2}|[A-Z]:\\\\|0x[0-9a-f]{6}', text)
    cells = json.loads(text)["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(len(line.rstrip("\n")) <= 76 for cell in code for line in cell["source"])
    outputs = [output for cell in code for output in cell["outputs"]]
    assert outputs and all(output.get("name") != "stderr" for output in outputs)
    # A line break inside a paragraph becomes a space between words that have none.
    words = "".join(line for c in cells if c["cell_type"] == "markdown" for line in c["source"])
    assert not re.search(r"[぀-ヿ一-鿿、。]\n(?![-*#|<])[぀-ヿ一-鿿「]", words)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A folder with the package as its wheel installs it."""
    folder = tmp_path_factory.mktemp("wheel")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    subprocess.run([*install, folder, ROOT], check=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_runs_in_an_empty_folder_with_the_wheel_alone(tutorials, wheel, name):
    pytest.importorskip("nbclient")
    import execution

    assert any(execution.outputs_of(tutorials.unexecuted(name), wheel))


@pytest.mark.parametrize("language", ["en", "ja"])
def test_drawings_have_an_address_in_a_hosted_notebook_and_a_path_on_the_site(
    tutorials, language, tmp_path, monkeypatch
):
    kept = tutorials.read_notebook(tutorials.path_of("2_self_attention", language))
    monkeypatch.setattr(tutorials, "repository", lambda: "https://example.org/k")
    notebook = tutorials.unexecuted("2_self_attention", language)
    hosted = [cell["source"] for cell in notebook["cells"] if "heads.svg" in cell["source"]]
    assert "](https://example.org/k/raw/HEAD/docs/pictures/heads.svg)" in hosted[0]
    assert "../pictures/" not in hosted[0]
    monkeypatch.setattr(tutorials, "FOLDER", tmp_path)
    path = tutorials.path_of("2_self_attention", language)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    texts = [
        [cell["source"] for cell in one["cells"]] for one in (kept, tutorials.read_notebook(path))
    ]
    assert [a for a, b in zip(*texts, strict=True) if a != b and "heads.svg" in b] == []
