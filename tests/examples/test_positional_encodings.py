"""Position schemes depend on distances as their papers state."""

import keras
import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(script):
    keras.utils.set_random_seed(0)
    return script.attention_by_scheme(24, 32)


def test_distances_of_sinusoids_are_sums_of_cosines_and_wavering_is_that_of_the_worst(script):
    encoding = script.sinusoidal_encoding(length=24, width=10)
    means, wavering = script.by_distance(encoding @ encoding.T)
    rates = 10000.0 ** (-np.arange(0, 10, 2) / 10)
    for distance in range(-23, 24):
        assert means[distance] == pytest.approx(np.cos(rates * distance).sum(), abs=1e-5)
    assert wavering < 1e-5
    means, wavering = script.by_distance(np.array([[1.0, 5.0], [7.0, 4.0]]))
    assert means == {-1: 7, 0: 2.5, 1: 5}
    assert wavering == 3


def test_schemes_inside_the_scores_know_the_distance_alone_and_added_ones_more(script, found):
    for name in ("rotary", "ALiBi", "T5", "Shaw"):
        for weights in found[name]:
            means, wavering = script.by_distance(script.scores_of(weights))
            assert wavering < 1e-4, name
            assert np.ptp(list(means.values())) > 0.05, name
    for name in ("sinusoidal, added", "learned, added"):
        _, wavering = script.by_distance(script.scores_of(found[name][0]))
        assert wavering > 0.01, name
    # ALiBi takes off a quarter for each position in the first of four heads.
    means, _ = script.by_distance(script.scores_of(found["ALiBi"][0]))
    for distance, score in means.items():
        assert score == pytest.approx(-abs(distance) / 4, abs=1e-5)


def test_far_distances_are_one_to_shaw_and_share_buckets_in_t5(script, found):
    shaw, _ = script.by_distance(script.scores_of(found["Shaw"][0]))
    assert [shaw[d] for d in range(4, 24)] == pytest.approx([shaw[4]] * 20, abs=1e-5)
    assert abs(shaw[3] - shaw[4]) > 1e-3
    t5, _ = script.by_distance(script.scores_of(found["T5"][0]))
    # Eight buckets ahead: four of one distance, then four that widen up to 32.
    assert len({round(t5[d], 3) for d in range(1, 24)}) == 7
    assert t5[20] == pytest.approx(t5[23], abs=1e-5)


def test_it_prints_a_row_for_each_scheme_and_draws_four_pictures(script, tmp_path, capsys):
    script.main(["--png", str(tmp_path / "positions.png")])
    rows = [line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    wavering = {row[0][:18].strip(): float(row[1]) for row in rows if row and "e" in row[-1]}
    added, inside = ["sinusoidal, added", "learned, added"], ["rotary", "ALiBi", "T5", "Shaw"]
    assert list(wavering) == ["sinusoidal", *added, *inside]
    assert all((number > 0.01) == (name in added) for name, number in wavering.items())
    pictures = sorted(path.stem for path in tmp_path.iterdir())
    assert pictures == [f"positions-{x}" for x in ("curves", "heat-map", "scores", "similarity")]
