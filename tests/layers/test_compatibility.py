"""`.keras` files of earlier versions load, and give what they gave."""

import json
from pathlib import Path

import keras
import numpy as np
import pytest

import keras_attn  # noqa: F401  registers the layers

STORED = sorted((Path(__file__).parents[1] / "data" / "exported").glob("*.keras"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_layers_of_an_earlier_version_load_and_compute_the_same(path):
    record = json.loads(path.with_suffix(".layers.json").read_text(encoding="utf-8"))
    model = keras.saving.load_model(path)
    output = np.array(keras.ops.convert_to_numpy(model(np.array(record["ids"]))))
    np.testing.assert_allclose(output, record["output"], atol=1e-4)
