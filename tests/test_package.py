"""Metadata of the package agree with each other."""

import configparser
import importlib.metadata
import re
from pathlib import Path

import keras_attn

ROOT = Path(__file__).parents[1]
SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg")


def test_citation_changelog_and_a_stored_model_have_the_version():
    version = keras_attn.__version__
    assert version == importlib.metadata.version("keras_attn")
    for name, line in {"CITATION.cff": r"^version: (.*)$", "CHANGELOG.md": r"^## (\S+)"}.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert re.search(line, text, re.MULTILINE)[1] == version, name
    stored = ROOT / "tests" / "data" / "exported"
    minor = version.rpartition(".")[0]
    for suffix in ("tar.xz", "keras"):
        assert list(stored.glob(f"{minor}.*.{suffix}")), suffix


def test_layers_need_keras_and_numpy_and_all_has_every_extra():
    lines = SETUP["options"]["install_requires"].split()
    assert [re.match(r"\w+", line)[0] for line in lines] == ["keras", "numpy"]
    extras = SETUP["options.extras_require"]
    (names,) = re.findall(r"keras_attn\[(.*)\]", extras["all"])
    assert set(names.split(",")) == set(extras) - {"all", "dev", "docs", "test"}


def test_every_folder_with_source_is_installed():
    found = set()
    for name, folder in (("keras_attn", "keras_attn"), ("keras_attn_data", "data")):
        for path in (ROOT / folder).rglob("*.py"):
            found.add(".".join([name, *path.parent.relative_to(ROOT / folder).parts]))
    assert set(SETUP["options"]["packages"].split()) == found


def test_every_extra_that_is_named_in_the_source_exists():
    named = set()
    for path in (ROOT / "keras_attn").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(r"missing\([^()]*(?:\([^()]*\))?[^()]*, [\"'](\w+)[\"']\)", text))
        named |= set(re.findall(r"extra=\"(\w+)\"", text))
    assert named >= {"plots", "serving", "tensorboard", "translation"}
    assert named <= set(SETUP["options.extras_require"])
