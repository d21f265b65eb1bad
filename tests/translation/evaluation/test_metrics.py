import math

import pytest

from keras_attn.translation.evaluation.metrics import (
    bleu,
    compare,
    score,
    sentence_chrf,
)


def test_bleu_agrees_with_a_calculation_by_hand():
    # Matches of n-grams: 5/6, 3/5, 2/4, 1/3; as long as the reference, so no brevity penalty.
    hypotheses, references = ["a b c d x f"], [("a b c d e f",)]
    precisions = [5 / 6, 3 / 5, 2 / 4, 1 / 3]
    expected = 100 * math.exp(sum(map(math.log, precisions)) / 4)
    assert score(hypotheses, references, "en").bleu == pytest.approx(expected, abs=1e-6)
    assert bleu(hypotheses, references, "en") == score(hypotheses, references, "en").bleu
    short = score(["a b c d e"], [("a b c d e f g",)], "en")
    assert short.bleu == pytest.approx(100 * math.exp(1 - 7 / 5), abs=1e-6)
    assert score(["", ""], [("a b c d",), ("e",)], "en").bleu == 0


def test_any_of_several_references_counts_and_their_number_may_vary():
    hypotheses = ["one two three four five", "six seven eight nine ten"]
    references = [("something else", "one two three four five"), ("six seven eight nine ten",)]
    found = score(hypotheses, references, "en")
    assert found.bleu == pytest.approx(100)
    assert found.chrf == pytest.approx(100)
    assert "nrefs:var" in found.bleu_signature
    assert score(hypotheses, [row[:1] for row in references], "en").bleu < 60


def test_japanese_is_scored_by_characters_and_signatures_say_so():
    found = score(["箱の中に本がある"], [("箱の上に本がある",)], "ja")
    assert found.bleu > 30
    assert "tok:char" in found.bleu_signature and "version:" in found.bleu_signature
    assert "tok:13a" in score(["a"], [("a",)], "en").bleu_signature
    assert "tok:char" in score(["a"], [("a",)], "ja-JP").bleu_signature
    assert found.chrf_signature.startswith("nrefs:1") and "nc:6" in found.chrf_signature


def test_hypotheses_without_references_are_refused():
    for hypotheses, references in (([], []), (["a"], []), (["a", "b"], [("a",), ()])):
        with pytest.raises(ValueError, match="at least one reference for each. Received:"):
            score(hypotheses, references, "en")


def test_interval_says_how_far_chance_moves_the_score():
    same = ["a b c d e f"] * 50
    half = ["a b c d e f", "q r s t u v"] * 25
    references = [("a b c d e f",)] * 50
    assert score(same, references, "en").bleu_interval == pytest.approx(0)
    assert 3 < score(half, references, "en").bleu_interval < 30


def test_ter_counts_edits_by_reference_words():
    found = score(["a b c x e", "f g h i j"], [("a b c d e",), ("f g h i j",)], "en")
    assert found.ter == pytest.approx(100 * 1 / 10)
    assert "asian:yes" in score(["本"], [("本",)], "ja").ter_signature


def test_comparison_tells_a_gain_from_chance():
    references = [(f"this is sentence number {i} of all",) for i in range(60)]
    good = [row[0] for row in references]
    bad = [text.replace("sentence", "thing") for text in good]
    found = compare("version 3", bad, good, references, "en")
    assert found.baseline == "version 3"
    assert found.gain == pytest.approx(100 - found.baseline_bleu)
    assert found.p_value < 0.05
    assert compare("version 3", good, good, references, "en").gain == 0


def test_sentence_chrf_ranks_translations():
    scores = [sentence_chrf(text, ("the cat sleeps",)) for text in ("the cat sleeps", "the", "no")]
    assert scores[0] == pytest.approx(100) and scores == sorted(scores, reverse=True)
