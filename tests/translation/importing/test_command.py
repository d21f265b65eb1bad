import numpy as np
import pytest

from keras_attn.translation import Translator
from keras_attn.translation import __main__ as command


@pytest.mark.filterwarnings("ignore:The model has several target languages")
@pytest.mark.slow  # exports twice
def test_weights_are_half_the_size_in_bfloat16(tiny, imported, tmp_path):
    command_line = ["import-marian", str(tiny), str(tmp_path), "--target", "fr"]
    assert not command.main([*command_line, "--serving-precision", "bfloat16"])
    half = Translator.load(tmp_path)
    sizes = [
        (one.folder / "variables" / "variables.data-00000-of-00001").stat().st_size
        for one in (half, imported)
    ]
    assert 0.4 < sizes[0] / sizes[1] < 0.6
    texts = ["青い机が上にある。", ">>eng<<青い机が上にある。"]
    scores = [one.score(texts, ["The box.", "The box."]) for one in (half, imported)]
    np.testing.assert_allclose(*scores, rtol=0.05)
