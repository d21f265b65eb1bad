"""The weights of each score are those of its formula."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def script(example):
    return example("masked_softmax_and_scores")


def additive(q, k, weights):
    query, key, score = weights
    return float(np.tanh(q @ query + k @ key) @ score[:, 0])


SCORES = {
    "additive": additive,
    "scaled dot product": lambda q, k, weights: q @ k / 2**0.5,
    "bilinear": lambda q, k, weights: q @ weights[0] @ k,
    "Gaussian kernel": lambda q, k, weights: -((q - k) ** 2).sum() / 2,
}


@pytest.mark.parametrize("name", SCORES)
def test_weights_are_the_softmax_of_the_score_and_zero_for_padding(script, name):
    layer = script.make_layers()[name]
    weights = script.attention_weights(layer)
    keys = [np.array(key) for title, key in script.KEYS.items() if title != "padding"]
    for query, row in zip(script.QUERIES.values(), weights, strict=True):
        scores = [SCORES[name](np.array(query), key, layer.get_weights()) for key in keys]
        expected = np.exp(scores) / np.exp(scores).sum()
        np.testing.assert_allclose(row[:-1], expected, rtol=1e-5)
        assert row[-1] == 0


def test_it_prints_every_table_and_draws_every_score(script, tmp_path, capsys):
    script.main(["--png", str(tmp_path / "scores.png")])
    lines = capsys.readouterr().out.splitlines()
    assert "2 valid                   0.269      0.731      0.000      0.000" in lines
    assert "0 valid                   0.000      0.000      0.000      0.000" in lines
    titles = [line[:20].strip() for line in lines if line.endswith("padding")]
    assert titles == list(SCORES)
    assert (tmp_path / "scores.png").stat().st_size > 1000
