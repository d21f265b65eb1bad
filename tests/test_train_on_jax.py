"""The command on JAX: the exported model and its report are those of TensorFlow."""

import json
import os
import subprocess

import pytest
from train_command import TINY, command, write_corpus

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
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["1"]
    report = json.loads((tmp_path / "out" / "1" / "report.json").read_text(encoding="utf-8"))
    losses = [row["loss"] for row in report["history"]]
    assert losses[-1] < 0.8 * losses[0]

    from keras_attn.translation import Translator

    sample = report["samples"][0]
    (translation,) = Translator.load(tmp_path / "out")([sample["source"]])
    assert translation and translation == sample["translation"]
