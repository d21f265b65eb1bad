"""Metadata of the package agree with each other."""

import configparser
import re
from pathlib import Path

import keras_attn

ROOT = Path(__file__).parents[1]


def test_the_citation_has_the_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", text, re.MULTILINE)[1] == keras_attn.__version__


def test_the_changelog_has_the_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", text, re.MULTILINE)[1] == keras_attn.__version__


def test_a_model_of_this_minor_version_is_stored():
    minor = keras_attn.__version__.rpartition(".")[0]
    stored = [path.name for path in (ROOT / "tests/data/exported").iterdir()]
    for suffix in ("tar.xz", "keras"):
        assert any(re.fullmatch(rf"{re.escape(minor)}\.\d+\.{suffix}", name) for name in stored)


def test_layers_need_keras_and_numpy_and_all_has_every_extra():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    lines = setup["options"]["install_requires"].split()
    assert [re.match(r"\w+", line)[0] for line in lines] == ["keras", "numpy"]
    extras = setup["options.extras_require"]
    (names,) = re.findall(r"keras_attn\[(.*)\]", extras["all"])
    assert set(names.split(",")) == set(extras) - {"all", "dev", "docs", "test"}
