"""The precision that training computes in."""

import pytest

from keras_attn.translation.config import PRECISIONS
from keras_attn.translation.machine import precision


@pytest.mark.parametrize(
    ("float32", "bfloat16", "expected"),
    [(2.0, 1.0, "bfloat16"), (1.1, 1.0, "float32"), (1.0, 4.0, "float32")],
)
def test_bfloat16_only_where_it_is_clearly_faster(monkeypatch, float32, bfloat16, expected):
    seconds = {"float32": float32, "bfloat16": bfloat16}
    monkeypatch.setattr(precision, "_seconds_of_a_product", seconds.get)
    assert precision.fastest() == expected


def test_measures_this_machine():
    assert precision.fastest() in PRECISIONS
