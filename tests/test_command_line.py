import argparse

import pytest

import keras_attn
from keras_attn.command_line import add_version, form


def test_the_help_wraps_the_description_and_keeps_each_example_in_its_line():
    parser = argparse.ArgumentParser("cut", **form("Cuts text. " * 20, "cut FILE", "cut < FILE"))
    lines = parser.format_help().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[lines.index("examples:") :] == ["examples:", "  cut FILE", "  cut < FILE"]
    assert "examples" not in argparse.ArgumentParser("cut", **form("Cuts text.")).format_help()


def test_the_version_is_that_of_the_package(capsys):
    parser = argparse.ArgumentParser("cut")
    add_version(parser)
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"keras_attn {keras_attn.__version__}\n"
