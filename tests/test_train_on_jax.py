"""The command on JAX: the exported model and its report are those of TensorFlow."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from train_command import ROOT, TINY, command, write_corpus

pytest.importorskip("jax")
pytestmark = pytest.mark.slow  # two processes start, and shapes are compiled


def test_the_command_on_jax_exports_a_model_that_translates(tmp_path):
    corpus = write_corpus(tmp_path / "文.tsv")
    ended = subprocess.run(
        command("--data", corpus, "--out", tmp_path / "out", *TINY, "--steps", 60),
        env={**os.environ, "KERAS_BACKEND": "jax"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ended.returncode == 0, ended.stderr
    assert "First step after" in ended.stderr
    # The form of Abseil's and TensorFlow's lines: level, date and time.
    assert not re.search(r"^[IWEF]\d{4} |\[[IWEF] |absl::", ended.stderr, re.MULTILINE)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["1"]
    report = json.loads((tmp_path / "out" / "1" / "report.json").read_text(encoding="utf-8"))
    losses = [row["loss"] for row in report["history"]]
    assert losses[-1] < 0.8 * losses[0]

    from keras_attn.translation import Translator

    sample = report["samples"][0]
    (translation,) = Translator.load(tmp_path / "out")([sample["source"]])
    assert translation and translation == sample["translation"]


def test_two_processes_end_together_after_their_minutes(tmp_path):
    corpus = write_corpus(tmp_path / "文.tsv")
    script = ROOT / "examples" / "several_processes" / "two_processes.sh"
    options = ("--data", corpus, "--out", tmp_path / "out", *TINY, "--minutes", 0.5)
    ended = subprocess.run(
        ["bash", script, *map(str, options)],
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ended.returncode == 0, ended.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["1"]
    assert ended.stdout.count("Trained ") == 1  # the first process alone prints
