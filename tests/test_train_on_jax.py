"""The command on JAX: the exported model and its report are those of TensorFlow."""

import json
import os
import sys
from pathlib import Path

import pytest
from processes import ROOT, run
from train_command import TINY, native_lines, trained, write_corpus

from keras_attn.translation import Translator

pytest.importorskip("jax")
pytestmark = pytest.mark.slow  # two processes start, and shapes are compiled


def test_the_command_on_jax_exports_a_model_that_translates(tmp_path):
    corpus = write_corpus(tmp_path / "文.tsv")
    options = ("--data", corpus, "--out", tmp_path / "out", *TINY, "--steps", 60)
    ended = trained(*options, KERAS_BACKEND="jax")
    assert "First step after" in ended.stderr and not native_lines(ended.stderr)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["1"]
    report = json.loads((tmp_path / "out" / "1" / "report.json").read_text(encoding="utf-8"))
    losses = [row["loss"] for row in report["history"]]
    assert losses[-1] < 0.8 * losses[0]
    sample = report["samples"][0]
    (translation,) = Translator.load(tmp_path / "out")([sample["source"]])
    assert translation and translation == sample["translation"]


def test_two_processes_end_together_after_their_minutes(tmp_path):
    corpus = write_corpus(tmp_path / "文.tsv")
    script = ROOT / "examples" / "several_processes" / "two_processes.sh"
    options = ("--data", corpus, "--out", tmp_path / "out", *TINY, "--minutes", 0.5)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended = run(["bash", script, *options], PATH=path)
    assert ended.returncode == 0, ended.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["1"]
    assert ended.stdout.count("Trained ") == 1  # the first process alone prints
