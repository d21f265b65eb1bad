from collections import Counter

import numpy as np
import pytest

from keras_attn.translation import lexicon
from keras_attn.translation.lexicon import FLOOR, Lexicon

SIZES = 12, 15


def pairs(number=200):
    """Pairs in which source piece `i` becomes `i + 2`; piece 4 becomes nothing."""
    random = np.random.default_rng(0)
    sources = [random.integers(4, SIZES[0], random.integers(1, 6)) for _ in range(number)]
    targets = [random.permutation(source[source > 4] + 2) for source in sources]
    return sources, targets


def model_1(sides, rounds):
    """`P(source | target)` by the definition of Brown et al. 1993; target 0 stands for none."""
    probability = Counter()
    for _ in range(rounds):
        counts = Counter()
        for source, target in zip(*sides, strict=True):
            choices = [0, *target.tolist()]
            for x in source.tolist():
                weights = [probability[x, y] if probability else 1.0 for y in choices]
                for y, weight in zip(choices, weights, strict=True):
                    counts[x, y] += weight / sum(weights)
        totals = Counter()
        for (_, y), count in counts.items():
            totals[y] += count
        probability = Counter({(x, y): n / totals[y] for (x, y), n in counts.items()})
    return probability


def table(found):
    """Probabilities of a lexicon, `(targets, sources)`."""
    probabilities = np.zeros(SIZES[::-1])
    places = np.divmod(found.keys, found.num_sources)
    probabilities[places] = np.exp(found.log_probs.astype(np.float64)) - FLOOR
    return probabilities


def test_probabilities_are_those_of_model_1():
    found = table(lexicon.learn(pairs(), SIZES, seed=0))
    expected = np.zeros(SIZES[::-1])
    for (x, y), value in model_1(pairs(), rounds=5).items():
        expected[y, x] = value if value > FLOOR else 0
    np.testing.assert_allclose(found, expected, rtol=5e-3, atol=1e-4)  # kept as float16
    assert found[7:14].argmax(axis=1).tolist() == [*range(5, 12)]
    assert found[0].argmax() == 4


def test_pieces_beyond_the_limit_are_not_counted(monkeypatch):
    whole = lexicon.learn(pairs(), SIZES, seed=0)
    monkeypatch.setattr(lexicon, "MOST_PIECES", 10)
    found = lexicon.learn(pairs(), SIZES, seed=0)
    assert whole.num_sources == 12 and found.num_sources == 10
    assert found.keys.max() < 10 * 10


@pytest.mark.parametrize("most_cells, number", [(1, 1), (300, 20)])
def test_of_many_pairs_some_are_drawn(most_cells, number):
    sides = pairs()
    drawn = lexicon.draw(sides, most_cells, np.random.default_rng(0))
    assert len({*drawn}) == len(drawn) and number <= len(drawn) < 100


def test_a_lexicon_is_kept_in_a_file(tmp_path):
    found = lexicon.learn(pairs(), SIZES, seed=0)
    found.save(tmp_path / "lexicon.npz")
    again = Lexicon.load(tmp_path / "lexicon.npz")
    assert again.num_sources == found.num_sources
    np.testing.assert_array_equal(again.keys, found.keys)
    np.testing.assert_array_equal(again.log_probs, found.log_probs)


@pytest.mark.parametrize("content", [b"", b"PK", b"words"])
def test_a_file_that_is_no_lexicon_is_named(tmp_path, content):
    (tmp_path / "lexicon.npz").write_bytes(content)
    with pytest.raises(ValueError, match="lexicon.npz` is not the lexicon of a translator"):
        Lexicon.load(tmp_path / "lexicon.npz")
