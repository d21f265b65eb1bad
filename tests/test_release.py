"""`.ci/release` on a copy of the tree: one address and version, and no install from a clone."""

import re
import runpy
import shutil

import yaml
from processes import ROOT

ADDRESS, VERSION, DATE = "https://example.org/keras_attn", "9.8.7", "2031-02-03"
UNRELEASED = r'pip install (?:-q )?\\?"?\.[\[`\s"]|before the release|git clone (?!https:)'


def test_a_release_fills_in_address_version_and_package(tmp_path):
    for name in ("docs", "keras_attn"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.png"))
    for path in filter(lambda path: path.is_file(), ROOT.glob("*.*")):
        shutil.copy(path, tmp_path)
    fill_in = runpy.run_path(str(ROOT / ".ci" / "release"))["fill_in"]
    fill_in(tmp_path, "https://example.org/elsewhere", "0.1.0", DATE)
    fill_in(tmp_path, ADDRESS, VERSION, DATE)  # the next release
    paths = (path for end in ("md", "py", "ipynb", "c*") for path in tmp_path.rglob(f"*.{end}"))
    texts = {str(path.relative_to(tmp_path)): path.read_text("utf-8") for path in paths}

    citation = yaml.safe_load(texts["CITATION.cff"])
    assert citation["repository-code"] == ADDRESS and citation["version"] == VERSION
    assert str(citation["date-released"]) == DATE
    assert f"\nurl = {ADDRESS}\nauthor" in texts["setup.cfg"]
    assert f"\nrepo_url: {ADDRESS}\ndocs_dir" in (tmp_path / "mkdocs.yml").read_text("utf-8")
    assert f'__version__ = "{VERSION}"' in texts["keras_attn/__init__.py"]
    assert re.search(rf"^## .* \({DATE}\)$", texts["CHANGELOG.md"], re.MULTILINE)
    for name in ("README.md", "README.ja.md", "README.ko.md", "docs/get_started.md"):
        assert f"git clone {ADDRESS} keras_attn" in texts[name], name
        assert 'pip install "keras_attn[plots]"' in texts[name], name
    assert [name for name, text in texts.items() if re.search(UNRELEASED, text)] == []
    assert 'pip install "keras_attn[{extra}]"`.' in texts["keras_attn/cli.py"]
