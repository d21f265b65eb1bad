import numpy as np

from keras_attn.translation.runtime import precision


def test_bfloat16_only_where_it_is_clearly_faster():
    for bfloat16, expected in ((2e11, "bfloat16"), (1.1e11, "float32"), (0.2e11, "float32")):
        assert precision.fastest({"float32": 1e11, "bfloat16": bfloat16}) == expected


def test_speeds_are_those_of_matrix_products():
    slowest, fastest = (order(precision.measure_speeds().values()) for order in (min, max))
    assert 1e7 < slowest <= fastest < 1e16 and np.isfinite(fastest)
