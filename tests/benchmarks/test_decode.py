"""The benchmark of translation counts the steps of the search that a model is exported with."""

import importlib

import pytest

from keras_attn.translation.evaluation.calibration import Calibration

TEXTS = ["猫が窓のそばで寝ている。", "庭に花が咲く。", "川の水は冷たい。", "明日は早く起きます。"]


@pytest.mark.slow  # traces two searches
def test_counted_search_translates_as_the_export_and_counts_each_sentence(
    exported, translator, monkeypatch
):
    monkeypatch.syspath_prepend("benchmarks")
    counted_search = importlib.import_module("decode").CountedSearch
    none = Calibration(())
    assert counted_search(exported / "1", none)(TEXTS).translations == translator(TEXTS)
    # Random weights seldom end a translation: each search runs to its limit, and then writes EOS.
    limits = {"max_length_ratio": 0.0, "max_length_extra": 5}
    found = counted_search(exported / "1", none, **limits)(TEXTS[:1])
    assert found.steps == found.row_steps == 6
