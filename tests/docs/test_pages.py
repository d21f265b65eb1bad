"""Pages of the site: code that runs, links that lead somewhere, a page for each public name."""

import doctest
import json
import re
import unicodedata
from pathlib import Path

import pytest

import keras_attn
from keras_attn import training

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
OTHERS = (
    "README*.md",
    "CONTRIBUTING.md",
    "docs/tutorials/**/*.ipynb",
    "benchmarks/results/*.md",
    "data/*/README.md",
    "examples/README.md",
)
BASES = ("RelativePosition", "ScoredAttention")  # pictures are of their subclasses
# Packages that code needs and that may be missing, by words in the code.
PACKAGES = {"plots": "matplotlib", "import keras_hub": "keras_hub", "import torch": "torch"}
WRITTEN = [*PAGES, *(path for pattern in OTHERS for path in sorted(ROOT.glob(pattern)))]
# Pages that `docs/building/hooks.py` makes of other files.
MADE = {
    "changelog.md": ROOT / "CHANGELOG.md",
    "how_to/everyday.md": ROOT / "data/everyday/README.md",
    "how_to/jmdict.md": ROOT / "data/jmdict/README.md",
    "how_to/situations.md": ROOT / "data/situations/README.md",
    "how_to/tatoeba.md": ROOT / "data/tatoeba/README.md",
    "how_to/conformance.md": ROOT / "keras_attn/serving/CONFORMANCE.md",
    **{f"benchmarks/{p.name}": p for p in ROOT.glob("benchmarks/results/*")},
    **{f"pictures/{p.name}": p for p in ROOT.glob("keras_attn/serving/pictures/*.png")},
    **{str(p.relative_to(DOCS).with_suffix(".md")): p for p in DOCS.glob("tutorials/**/*.ipynb")},
}


def name_of(path):
    return str(path.relative_to(ROOT))


def text_of(path):
    """Markdown of a page or of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
    return "\n\n".join("".join(cell["source"]) for cell in cells)


def anchors(path):
    """Anchors of the headings, as Python-Markdown makes them."""
    found = set()
    for title in re.findall(r"^#{1,6} (.+)$", text_of(path), flags=re.MULTILINE):
        plain = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", title)
        plain = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
        plain = re.sub(r"[^\w\s-]", "", plain).strip().lower()
        found.add(re.sub(r"[-\s]+", "-", plain))
    return found


def source_of(page, target):
    """File that a link from `page` leads to, or None."""
    linked = (page.parent / target).resolve()
    # The site has no files of other folders.
    if linked.exists() and (linked.is_relative_to(DOCS) or not page.is_relative_to(DOCS)):
        return linked
    return MADE.get(str(linked.relative_to(DOCS))) if linked.is_relative_to(DOCS) else None


def test_links_lead_to_a_file_and_a_heading_of_it():
    wrong = []
    for page in WRITTEN:
        text = re.sub(r"```.*?```|`[^`]*`", "", text_of(page), flags=re.DOTALL)
        for target in re.findall(r"\]\((?![a-z]+:)([^)\s]+)\)", text):
            path, _, anchor = target.partition("#")
            source = source_of(page, path) if path else page
            if source is None or (anchor and anchor not in anchors(source)):
                wrong.append(f"{name_of(page)}: {target}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", text_of(page), flags=re.DOTALL | re.MULTILINE)
    # Code that needs a trained translator is tested in tests/test_train.py.
    blocks = [block for block in blocks if "saved_models" not in block]
    for words, package in PACKAGES.items():
        if any(words in block for block in blocks):
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        if ">>>" in block:
            examples = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
            runner = doctest.DocTestRunner()
            assert runner.run(examples, clear_globs=False).failed == 0
            names |= examples.globs
        else:
            exec(compile(block, str(page), "exec"), names)


def test_every_public_name_has_a_page_with_its_picture_and_every_page_is_in_the_navigation():
    pages = [(path.stem, path.read_text(encoding="utf-8")) for path in DOCS.glob("api/*.md")]
    for name in keras_attn.__all__:
        ((stem, text),) = [page for page in pages if page[1].startswith(f"# {name}\n")]
        assert f"::: keras_attn.{name}" in text
        assert f"../pictures/{stem}.png)" in text or name in BASES
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page for page in PAGES if str(page.relative_to(DOCS)) not in navigation] == []
    text = (DOCS / "api/training.md").read_text(encoding="utf-8")
    assert all(f"::: keras_attn.training.{name}\n" in text for name in training.__all__)
    plots, text = pytest.importorskip("keras_attn.plots"), "".join(text for _, text in pages)
    assert all(f"::: keras_attn.plots.{name}" in text for name in plots.__all__)
