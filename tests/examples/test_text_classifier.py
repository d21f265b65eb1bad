"""Attention reads the order of words, and a bag of words cannot."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow


def test_the_verdict_is_the_half_after_but_turned_round_by_not(script):
    sentences, verdicts = script.make_sentences(500)
    assert len({*sentences}) == 500
    for sentence, verdict in zip(sentences, verdicts, strict=True):
        words = sentence.split(" but ")[1].split()
        assert verdict == (words[-1] in script.GOOD) ^ ("not" in words)


def test_words_alone_leave_three_eighths_in_doubt(script):
    sentences, verdicts = script.make_sentences(20_000)
    # The most that words can tell: how many are good, how many are bad, how many are "not".
    known: dict[tuple[int, ...], list[int]] = {}
    for sentence, verdict in zip(sentences, verdicts, strict=True):
        words = sentence.split()
        kinds = (script.GOOD, script.BAD, ["not"])
        key = tuple(sum(word in kind for word in words) for kind in kinds)
        known.setdefault(key, []).append(verdict)
    right = sum(max(np.bincount(found)) for found in known.values())
    assert right / len(sentences) == pytest.approx(5 / 8, abs=0.01)


def test_attention_is_right_where_a_bag_of_words_guesses(script, tmp_path, capsys):
    arguments = ["--sentences", "2500", "--epochs", "5", "--png", str(tmp_path / "looked_at.png")]
    accuracies = script.main(arguments)
    assert accuracies["bag of words"] < 0.7
    assert accuracies["with attention"] > 0.9
    output = capsys.readouterr().out
    difference = output.split("answers differ by ")[1].split()[0]
    assert float(difference) < 1e-6
    assert output.count("attends to") == 4
    assert (tmp_path / "looked_at.png").stat().st_size > 1000
