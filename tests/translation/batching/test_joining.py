import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.batching import joining
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair, WeightedPairs


def numbered(count, end="。", weights=None):
    pairs = [Pair(f"文{i}{end}", f"Sentence {i}.") for i in range(count)]
    return WeightedPairs(pairs, weights or [1.0] * count)


def join(part, share=0.2, languages=("ja", "en"), max_length=99, seed=0, length=5):
    lengths = np.full((len(part.pairs), 2), length)
    sizes = {"concat_ratio": share, "max_length": max_length}
    config = Config(source=languages[0], target=languages[1], **sizes)
    return joining.joined_pairs(part, lengths, config, np.random.default_rng(seed))


@settings(max_examples=30, deadline=None)
@given(st.integers(20, 200), st.floats(0.1, 1.0), st.integers(0, 9))
def test_a_joined_pair_is_two_or_three_pairs_one_after_another(count, share, seed):
    part = numbered(count)
    joined = join(part, share, seed=seed)
    for source, target in joined.pairs:
        numbers = [int(n) for n in source.replace("文", "").rstrip("。").split("。")]
        assert len(numbers) in (2, 3)
        assert source == "".join(part.pairs[n].source for n in numbers)
        assert target == " ".join(part.pairs[n].target for n in numbers)
    assert sum(joined.weights) == pytest.approx(round(share * count))
    assert joined == join(part, share, seed=seed) != join(part, share, seed=seed + 1)


def test_sentences_without_an_end_come_last():
    some = numbered(40, end="")
    part = WeightedPairs([*numbered(40).pairs, *some.pairs], [1.0] * 80)
    joined = join(part, share=1.0).pairs
    assert any(not pair.source.endswith("。") for pair in joined)
    for source, target in joined:
        assert source.count("文") == target.count("Sentence")
        assert source.rstrip("。").count("。") == source.count("文") - 1
    assert join(some) == WeightedPairs([], [])


def test_combinations_that_are_too_long_are_left_out_and_languages_decide_what_is_between():
    joined = join(numbered(50), max_length=10, languages=("fr", "zh")).pairs
    assert all(pair.source.count("文") == 2 for pair in joined)
    assert "。 文" in joined[0].source and ".Sentence" in joined[0].target
    assert join(numbered(50), max_length=9).pairs == []


def test_heavy_pairs_are_joined_more_often():
    joined = join(numbered(100, weights=[5.0] * 10 + [0.5] * 90), share=1.0)
    sentences = [int(n) for s, _ in joined.pairs for n in s.replace("文", "").split("。") if n]
    assert 0.4 < np.mean(np.array(sentences) < 10) < 0.65  # 50 of 95


def test_a_small_part_is_joined_in_more_ways_than_a_large_one(monkeypatch):
    monkeypatch.setattr(joining, "MANY", 50)
    small, large = join(numbered(100), share=0.1), join(numbered(1000), share=0.1)
    assert len(small.pairs) == 50 and sum(small.weights) == pytest.approx(10)
    assert len(large.pairs) == 100 and sum(large.weights) == pytest.approx(100)
