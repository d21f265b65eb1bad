"""Every layer is measured at every length, and stands next to its order."""

import math

import numpy as np
import pytest

pytestmark = pytest.mark.slow


def test_layers_are_what_their_names_say(script):
    x = np.random.default_rng(0).normal(size=(2, 9, 4)).astype("float32")
    changed = x.copy()
    changed[:, 4] += 1
    reached = {}
    for name, layer in script.make_layers(width=4, kernel=3).items():
        difference = np.abs(np.asarray(layer(changed)) - np.asarray(layer(x))).max(axis=(0, 2))
        assert difference.shape == (9,)
        reached[name] = np.flatnonzero(difference > 1e-6).tolist()
    assert list(reached.values()) == [[3, 4, 5], [4, 5, 6, 7, 8], list(range(9))]


def test_operations_grow_as_the_paper_says(script):
    growth = {
        name: [
            script.operations(name, n, d, k) / script.operations(name, 8, 4, 3)
            for n, d, k in [(16, 4, 3), (8, 8, 3), (8, 4, 6)]
        ]
        for name in script.TABLE
    }
    expected = {"convolution": [2, 4, 2], "recurrence": [2, 4, 1], "self-attention": [4, 2, 1]}
    assert growth == expected
    equal = [script.operations(name, 64, 64, 3) for name in ("recurrence", "self-attention")]
    assert equal[0] == equal[1]


def test_layers_cross_where_the_straight_lines_between_lengths_do(script):
    cases = [([1, 4, 16], 4), ([1, 8, 32], 2**1.5), ([9, 9, 9], 2), ([1, 2, 3], math.nan)]
    for rising, expected in cases:
        # The other is 2, 4, 8 at 2, 4, 8.
        found = script.crossing([2, 4, 8], rising, [2, 4, 8])
        assert found == pytest.approx(expected, nan_ok=True)


def test_every_layer_has_a_time_at_every_length(script, tmp_path, capsys):
    sizes = ["--lengths", "11", "5", "--width", "6", "--batch-size", "2", "--turns", "2"]
    times = script.main([*sizes, "--png", str(tmp_path / "cost.png")])
    assert list(times) == list(script.TABLE)
    for found in times.values():
        assert len(found) == 2 and 0 < min(found) <= max(found) < math.inf
    lines = capsys.readouterr().out.splitlines()
    assert "recurrence      O(n d²)       O(n)          O(n)" in [line.rstrip() for line in lines]
    rows = [line for line in lines if line.split()[:1] in (["5"], ["11"])]
    assert [row.count("(") for row in rows] == [3, 3]
    # At the longest length, the order is scaled to what was measured.
    numbers = rows[1].replace("(", " ").replace(")", " ").split()[1:]
    assert numbers[::2] == numbers[1::2]
    assert lines[-1].startswith(("Self-attention is slower", "Up to n = 11"))
    assert (tmp_path / "cost.png").stat().st_size > 1000
