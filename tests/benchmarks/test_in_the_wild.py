import importlib
import math

import pytest

from keras_attn.translation.evaluation.acceptability import DEVELOPMENT, RELEASE, Row
from keras_attn.translation.export.translator import Hypothesis


@pytest.fixture
def in_the_wild(monkeypatch):
    monkeypatch.syspath_prepend("benchmarks")
    return importlib.import_module("in_the_wild")


def test_the_table_has_shares_by_situation_and_shows_no_answer_of_the_release_half(in_the_wild):
    rows = [
        Row(split, situation, f"{split} {i}", "the cat", "a cat", "cat")
        for split, situation in ((DEVELOPMENT, "pets"), (RELEASE, "farm"))
        for i in range(2)
    ]
    answers = [Hypothesis("the cat", -0.1), Hypothesis("cat of dogs", -0.9, True)] * 2
    lines = in_the_wild.table(answers, rows, show=True)
    assert [line.split()[:5] for line in lines[1:4]] == [
        ["pets", "2", "1", "of", "2"],
        ["farm", "2", "1", "of", "2"],
        ["all", "4", "2", "of", "4"],
    ]
    assert lines[4:] == [
        "Area under the curve, score as sign of a wrong answer: 1.000",
        "Marked by is_uncertain: 2 of 2 wrong and 0 of 2 acceptable answers",
        "pets: development 1\n  -> cat of dogs",
    ]


def test_shares_have_wilson_intervals_and_areas_count_pairs_in_order(in_the_wild):
    assert in_the_wild.share_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert in_the_wild.share_interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert in_the_wild.area_under_curve([1, 2], [2, 3]) == pytest.approx(3.5 / 4)
    assert math.isnan(in_the_wild.area_under_curve([], [1]))


def test_examples_are_the_first_of_each_situation_whatever_their_verdict(in_the_wild):
    rows = [
        Row(RELEASE, situation, f"{situation} {i}", "the cat", "a cat", "cat")
        for i in range(2)
        for situation in ("pets", "farm")
    ]
    answers = [Hypothesis("the cat", -0.1), Hypothesis("a dog", -0.9), *[Hypothesis("cat", 0)] * 2]
    assert in_the_wild.examples(answers, rows) == [
        "| pets 0 | the cat | good |",
        "| farm 0 | a dog | wrong |",
    ]
