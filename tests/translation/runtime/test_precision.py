from keras_attn.translation.runtime import precision


def test_bfloat16_only_where_it_is_clearly_faster():
    for bfloat16, expected in ((2e11, "bfloat16"), (1.1e11, "float32"), (0.2e11, "float32")):
        assert precision.fastest({"float32": 1e11, "bfloat16": bfloat16}) == expected


def test_speeds_are_those_of_matrix_products():
    speeds = precision.measure_speeds()
    assert set(speeds) == {"float32", "bfloat16"}
    assert all(1e7 < speed < 1e16 for speed in speeds.values())
