from types import SimpleNamespace

import numpy as np
import pytest

from keras_attn.translation.evaluation.history import EpochRecord
from keras_attn.translation.export import figures
from keras_attn.translation.export.translator import Attention


def test_both_pictures_are_written(tmp_path):
    pytest.importorskip("matplotlib")
    weights = np.full((2, 4, 3, 5), 0.2)
    seen = Attention(
        "the cat", ["▁猫", "が", "寝", "る", "</s>"], ["▁the", "▁cat", "</s>"], weights
    )
    translator = SimpleNamespace(attend=lambda text: seen)
    history = [EpochRecord(10, 60.0, 5.0, 3.0), EpochRecord(20, 120.0, 4.0, 9.0)]
    assert figures.can_be_drawn()
    figures.draw(tmp_path, translator, "猫が寝る", history)
    for name in (figures.LEARNING, figures.ATTENTION):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / name).stat().st_size > 5000
