"""`keras-attn`: help, version, and packages that are not installed."""

import importlib.metadata
import re
import resource
import shlex
import sys

import pytest
from processes import run

from keras_attn.__main__ import main, make_parser

COMMANDS = ("train", "translate", "score", "evaluate", "inspect", "ctranslate2", "serve")
# Starts of command lines with a help of their own.
STARTS = [
    ["-m", "keras_attn"],
    *(["-m", "keras_attn", command] for command in COMMANDS),
    ["-m", "keras_attn.translation"],
    ["-m", "keras_attn.translation", "translate"],
    ["-m", "keras_attn.serving"],
    ["train.py"],
]
EXTRAS = {
    "train": "translation",
    "translate saved_models/ja-en 猫": "translation",
    "serve saved_models/ja-en": "serving",
}


def printed(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_help_lists_commands_and_shows_defaults_and_examples_that_are_accepted(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = printed(capsys, "--help")
    faults = [command for command in COMMANDS if not re.search(rf"\n    {command}\s", text)]
    for command in COMMANDS:
        text = printed(capsys, command, "--help")
        if max(map(len, text.splitlines())) > 100:
            faults.append(f"{command}: long lines")
        start = f"keras-attn {command}"
        if not text.startswith(f"usage: {start} "):
            faults.append(f"{command}: {text[:40]}")
        flags, examples = text.split("\nexamples:\n")
        for example in examples.splitlines():
            if not example.startswith(("  " + start, "  KERAS_ATTN_")):
                faults.append(example)
            elif command not in ("train", "serve"):
                arguments = shlex.split(example.partition(" < ")[0])[1:]
                assert make_parser().parse_known_args(arguments)[0].command == command
        # Each optional flag that takes a value or switches something has a default.
        for flag in flags.split("\n  --")[1:]:
            has_value = not flag.startswith(("version", "help-all"))
            if has_value and "default: " not in " ".join(flag.split()):
                faults.append(flag)
    assert not faults, "\n".join(faults)


def test_the_version_is_that_of_the_package(capsys):
    for arguments in ((), ("train",), ("serve",)):
        text = printed(capsys, *arguments, "--version")
        assert text == f"keras_attn {importlib.metadata.version('keras_attn')}\n"


@pytest.mark.parametrize("start", STARTS, ids=" ".join)
def test_help_answers_in_a_third_of_a_second(start):
    # Of processor time: the machine may be busy.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = run([sys.executable, *start, "--help"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.returncode == 0 and not ended.stderr
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < 0.3


@pytest.mark.parametrize(("arguments", "extra"), EXTRAS.items())
def test_without_an_extra_a_command_tells_how_to_install_it(arguments, extra, tmp_path):
    # An environment with the standard library and this project alone.
    command = [sys.executable, "-S", "-m", "keras_attn", *arguments.split()]
    ended = run(command, tmp_path, KERAS_BACKEND="tensorflow")
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: This needs `") and ended.stderr.count("\n") == 1
    assert f'`pip install "keras_attn[{extra}]"`' in ended.stderr
