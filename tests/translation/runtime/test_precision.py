from keras_attn.translation.runtime import precision


def test_bfloat16_only_where_it_is_clearly_faster(monkeypatch):
    for float32, bfloat16, expected in (
        (2.0, 1.0, "bfloat16"),
        (1.1, 1.0, "float32"),
        (1.0, 4.0, "float32"),
    ):
        seconds = {"float32": float32, "bfloat16": bfloat16}
        monkeypatch.setattr(precision, "_seconds_of_a_product", seconds.get)
        assert precision.fastest() == expected
