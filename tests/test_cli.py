"""`keras-attn`: help, version, encoding, next commands, and packages that are not installed."""

import importlib.metadata
import re
import resource
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from processes import ROOT, run, run_python

from keras_attn import cli
from keras_attn.__main__ import COMMANDS, main
from keras_attn.cli import is_command, next_steps, parse

NAMES = "train translate score evaluate inspect ctranslate2 import-marian serve".split()
TRAIN = str(ROOT / "train.py")
STARTS = [
    "-m keras_attn",
    "-m keras_attn.translation translate",
    "-m keras_attn.serving",
    "train.py",
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
    faults = [command for command in NAMES if not re.search(rf"\n    {command}\s", text)]
    for command in NAMES:
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
                continue
            words = shlex.split(example.partition(" < ")[0])
            function, _, _ = parse(words[words.index("keras-attn") + 1 :], COMMANDS)
            assert function.__name__ == command.replace("-", "_")
        # Each optional flag that takes a value or switches something has a default.
        for flag in flags.split("\n  --")[1:]:
            has_value = not flag.startswith(("version", "help-all"))
            if has_value and "default: " not in " ".join(flag.split()):
                faults.append(flag)
    assert not faults, "\n".join(faults)


def test_the_version_is_that_of_the_package(capsys):
    version = f"keras_attn {importlib.metadata.version('keras_attn')}\n"
    assert printed(capsys, "--version") == printed(capsys, "train", "--version") == version


@pytest.mark.parametrize("start", STARTS)
def test_help_answers_in_a_third_of_a_second(start):
    # Of processor time: the machine may be busy.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = run([sys.executable, *start.split(), "--help"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.returncode == 0 and not ended.stderr
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < 0.3


@pytest.mark.parametrize(("arguments", "extra"), EXTRAS.items())
def test_without_an_extra_a_command_tells_how_to_install_it(arguments, extra, tmp_path):
    # An environment with the standard library and this project alone.
    command = [sys.executable, "-S", "-m", "keras_attn", *arguments.split()]
    ended = run(command, tmp_path, KERAS_BACKEND="tensorflow")
    assert ended.returncode == 2
    (package,) = re.findall(r"needs `(\w+)`", ended.stderr)
    assert ended.stderr == f"error: {cli.missing(package, extra)}\n"


@pytest.mark.parametrize(
    ("argv", "original", "expected"),
    [
        (["-m", "translate"], ["python", "-m", "keras_attn.translation", "translate"], True),
        (["-m"], ["python", "-X", "dev", "-m", "keras_attn"], True),
        (["-m", "keras_attn"], ["python", "-m", "own.tool", "keras_attn"], False),
        (["-m"], ["python", "-m", "keras_attn_data"], False),
        (["/venv/bin/keras-attn", "serve"], ["python", "/venv/bin/keras-attn", "serve"], True),
        ([TRAIN], ["python", TRAIN], True),
        (["/elsewhere/train.py"], ["python", "train.py"], False),
        (["-c"], ["python", "-c", "import keras_attn"], False),
        ([""], ["python"], False),
        ([], ["python"], False),
    ],
)
def test_commands_are_told_from_programs(monkeypatch, argv, original, expected):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", original)
    assert is_command() is expected


def test_a_full_disk_names_the_file_and_the_way_out(tmp_path, capsys):
    report = tmp_path / "report.md"
    report.symlink_to("/dev/full")

    def write():
        report.write_text("a", encoding="utf-8")

    assert cli.run(["write"], [lambda all: cli.add_command(all, write, "write", "")]) == 2
    said = f"error: No space left on device: {report}. Free space on this disk, and run the same"
    assert capsys.readouterr().err.startswith(said)
    script = (
        "from keras_attn import cli\n"
        "def write(): print('a')\n"
        "cli.run(['write'], [lambda all: cli.add_command(all, write, 'write', '')])"
    )
    full = ["sh", "-c", 'exec "$@" > /dev/full', "sh", sys.executable, "-c", script]
    said = subprocess.run(full, capture_output=True, text=True).stderr
    assert "error: No space left on device: standard output. Free space" in said
    assert "Traceback" not in said


def test_streams_that_are_closed_take_no_other_messages():
    script = (
        "import os, socket, sys; from keras_attn import cli\n"
        "def check(): connection = socket.socket(); sys.exit(connection.fileno() < 3)\n"
        "cli.run(['check'], [lambda all: cli.add_command(all, check, 'check', '')])"
    )
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", script]
    assert subprocess.run(closed).returncode == 0


def test_output_is_utf8_in_every_locale():
    for encoding in ("cp1252", "ascii", "utf-16", "cp932", "utf-8"):
        ended = run_python("-m", "keras_attn", "translate", "--help", PYTHONIOENCODING=encoding)
        assert "昨日、友達と映画を見ました。" in ended.stdout, encoding
        line = ["-m", "keras_attn", "train", "--猫", "\udcff"]
        ended = run_python(*line, may_fail=True, PYTHONIOENCODING=encoding)
        assert ended.stderr.endswith("unrecognized arguments: --猫 \\udcff\n"), encoding


def test_flags_of_other_programs_and_missing_parts_say_what_to_write(capsys):
    for line, words in (
        ("train --epochs 3", "unrecognized arguments: --epochs 3. Write --minutes or --steps."),
        ("train --minute 10", "unrecognized arguments: --minute 10. Write --minutes."),
        ("train --bath-tokens=9", "Write --batch-tokens."),
        ("serve MODEL --colour", "unrecognized arguments: --colour\n"),
        ("", "Train, use and serve a translator."),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(line.split())
        assert words in capsys.readouterr().err, line


def test_next_commands_can_be_pasted_whatever_the_names(monkeypatch, tmp_path):
    version = Path("my models") / "ja-en" / "3"
    ours = str(Path(sys.executable).with_name("keras-attn"))
    module = [sys.executable, "-m", "keras_attn"]
    # The program of this environment, none, and that of another.
    for found, program in ((ours, ["keras-attn"]), (None, module), (str(tmp_path / "x"), module)):
        monkeypatch.setattr(shutil, "which", lambda name, found=found: found)
        _, *lines = next_steps(version, "今日は'いい'天気だ").splitlines()
        translate, serve, report = map(shlex.split, lines)
        assert translate == [*program, "translate", "my models/ja-en", "今日は'いい'天気だ"]
        assert serve == [*program, "serve", "my models/ja-en"]
        assert report[-1] == "my models/ja-en/3/report.md"
