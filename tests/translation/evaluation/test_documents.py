import dataclasses
import json
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from keras_attn.translation.config import Config
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation import documents, figures, model_card
from keras_attn.translation.evaluation.report import EpochRecord, Sample, SetScores
from keras_attn.translation.export.translator import Attention

EXAMPLES = [Example(f"文{i}", (f"the sentence number {i} here",)) for i in range(9)]


class Echo:
    """A translator that gives the references."""

    config = Config()

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, texts):
        return [f"the sentence number {text[1:]} here" for text in texts]

    def attend(self, text):
        pieces = ["▁猫", "が", "寝", "る", "</s>"], ["▁the", "▁cat", "</s>"]
        return Attention("the cat", *pieces, np.full((2, 4, 3, 5), 0.2))


@pytest.fixture
def export_and_score(tmp_path, monkeypatch):
    """`export_and_score()`: of a translator in the version `tmp_path / "1"`."""
    (tmp_path / "1").mkdir()
    monkeypatch.setattr(documents, "export", lambda *_: Echo(tmp_path / "1"))

    def export_and_score():
        version, report = documents.export_and_score(
            *(None, None, Config(), tmp_path),
            lexicon=None,
            validation=[],
            examples=EXAMPLES,
            corpora={},
            held_out=[],
            history=[EpochRecord(10, 60.0, 5.0, 3.0)],
            details={"credit": ""},
        )
        assert version == tmp_path / "1"
        return report

    return export_and_score


def test_a_version_gets_a_report_figures_and_a_card(export_and_score, tmp_path, capsys):
    pytest.importorskip("matplotlib_fontja")
    report = export_and_score()
    assert report.scores.bleu == pytest.approx(100)
    assert "\nacceptable on unseen sentences 0 of 200 (development half)\n" in report.summary()
    card = (tmp_path / "1" / "README.md").read_text(encoding="utf-8")
    assert "| acceptable on unseen sentences | 0 of 200 (development half) |" in card
    names = {path.name for path in (tmp_path / "1").iterdir()}
    assert names >= {"report.json", "report.md", "README.md"}
    for name in ("learning.png", "attention.png"):
        picture = (tmp_path / "1" / name).read_bytes()
        assert picture.startswith(b"\x89PNG") and len(picture) > 5000
    assert "warning: the model" not in capsys.readouterr().err


def test_what_fails_is_named_in_one_warning_but_an_interrupt_is_none(
    export_and_score, tmp_path, monkeypatch, capsys
):
    for target, name, what in (
        (figures, "draw", "figures"),
        (figures, "can_be_drawn", "figures"),
        (model_card, "write", "model card"),
        (documents, "write_report", "report"),
        (documents, "evaluate", "scores"),
    ):
        with monkeypatch.context() as patched:
            if what != "figures":
                patched.setattr(figures, "can_be_drawn", lambda: False)
            patched.setattr(target, name, Mock(side_effect=RuntimeError("out of luck\nmore")))
            report = export_and_score()
        assert (report is None) == (what == "scores")
        assert capsys.readouterr().err == (
            f"warning: the model in `{tmp_path / '1'}` is complete, but has no {what} "
            "(RuntimeError: out of luck).\n"
        )
    (tmp_path / "1").rename(tmp_path / "gone")
    assert export_and_score().num_sentences == 9
    warnings = capsys.readouterr().err
    for what in ("report", "model card"):
        assert f"has no {what} (FileNotFoundError" in warnings
    monkeypatch.setattr(documents, "evaluate", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        export_and_score()


def test_the_summary_shows_scores_first_and_no_signature(report_with):
    summary = report_with(Sample("これ", "this", "that")).summary()
    assert summary.splitlines() == [
        "BLEU 41.3 ± 1.5",
        "chrF 63.0",
        "TER 44.0",
        "number accuracy 93.1% (1,000 sentences)",
        "copy accuracy n/a (0 sentences)",
        "1,771 sentences translated in 12.5 s",
        "Samples (= translation, ~ reference):",
        "  これ",
        "    = this",
        "    ~ that",
    ]


def test_the_json_report_holds_everything(report_with, tmp_path):
    details = {"corpus": {"read": 307}, "credit": "Somebody", "where": Path("x")}
    report = report_with(Sample("文|", "translation", "reference"), **details)
    held_out = [SetScores("c", 1200, report.scores, report.exactness)]
    documents.write_report(dataclasses.replace(report, held_out=held_out), tmp_path)
    text = (tmp_path / "report.json").read_text(encoding="utf-8")
    assert "文|" in text
    record = json.loads(text)
    assert record["scores"]["bleu"] == 41.257
    assert record["scores"]["bleu_signature"] == "nrefs:1|tok:13a"
    assert record["num_sentences"] == 1771
    sample = {"source": "文|", "translation": "translation", "reference": "reference"}
    assert record["samples"] == [sample]
    assert record["details"] == {"corpus": {"read": 307}, "credit": "Somebody", "where": "x"}
    (found,) = record["held_out"]
    assert (found["name"], found["num_sentences"]) == ("c", 1200)
    assert found["scores"]["chrf_signature"] == "nrefs:1|nc:6"
    assert found["exactness"]["numbers"] == {"right": 931, "sentences": 1000}
