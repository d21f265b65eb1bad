import configparser
import re
from pathlib import Path

from keras_attn import extras

ROOT = Path(__file__).parents[1]


def test_a_missing_package_has_a_command_that_installs_it():
    sentence = extras.missing("matplotlib", "plots")
    assert "`matplotlib`" in sentence and 'pip install "keras_attn[plots]"' in sentence


def test_every_extra_that_is_named_in_the_source_exists():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    named = set()
    for path in (ROOT / "keras_attn").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(r"missing\([^()]*(?:\([^()]*\))?[^()]*, [\"'](\w+)[\"']\)", text))
    assert named >= {"plots", "serving", "tensorboard", "translation"}
    assert named <= set(setup["options.extras_require"])
