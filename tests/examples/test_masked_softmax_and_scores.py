"""The weights of each score are those of its formula."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow


SCORES = {
    "additive": lambda q, k, w: np.tanh(q @ w[0] + k @ w[1]) @ w[2][:, 0],
    "scaled dot product": lambda q, k, w: q @ k / 2**0.5,
    "bilinear": lambda q, k, w: q @ w[0] @ k,
    "Gaussian kernel": lambda q, k, w: -((q - k) ** 2).sum() / 2,
}


def test_weights_are_the_softmax_of_the_score_and_zero_for_padding(script):
    keys = [np.array(key) for title, key in script.KEYS.items() if title != "padding"]
    for name, score in SCORES.items():
        layer = script.make_layers()[name]
        rows = script.attention_weights(layer)
        for query, row in zip(script.QUERIES.values(), rows, strict=True):
            powers = np.exp([score(np.array(query), key, layer.get_weights()) for key in keys])
            np.testing.assert_allclose(row[:-1], powers / powers.sum(), rtol=1e-5, err_msg=name)
            assert row[-1] == 0


def test_it_prints_every_table_and_draws_every_score(script, tmp_path, capsys):
    script.main(["--png", str(tmp_path / "scores.png")])
    lines = capsys.readouterr().out.splitlines()
    assert "2 valid                   0.269      0.731      0.000      0.000" in lines
    assert "0 valid                   0.000      0.000      0.000      0.000" in lines
    titles = [line[:20].strip() for line in lines if line.endswith("padding")]
    assert titles == list(SCORES)
    assert (tmp_path / "scores.png").stat().st_size > 1000
