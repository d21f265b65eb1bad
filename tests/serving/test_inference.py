import numpy as np
import pytest

from keras_attn.serving.errors import RequestError
from keras_attn.serving.inference import check_values
from keras_attn.translation.config import Config

SAMPLE = {"temperature": np.float32(1), "top_k": np.int32(0), "top_p": np.float32(1)}


def test_values_out_of_range_are_refused_in_our_words():
    check_values("sample", {name: np.array(value) for name, value in SAMPLE.items()}, None)
    for name, value, says in (
        ("temperature", 0.0, "`temperature` must be above 0. Received: temperature=0.0."),
        ("temperature", float("nan"), "`temperature` must be above 0"),
        ("top_k", -1, "`top_k` must be at least 0"),
        ("top_p", 1.5, "`top_p` must be above 0 and at most 1"),
    ):
        inputs = {one: np.array(x) for one, x in {**SAMPLE, name: value}.items()}
        with pytest.raises(RequestError, match=says):
            check_values("sample", inputs, None)


def test_each_text_has_one_translation():
    pair = {"text": np.array([b"a"]), "translation": np.array([b"b"])}
    check_values("score", pair, None)
    with pytest.raises(RequestError, match="Received: 1 in 'text', 2 in 'translation'"):
        check_values("score", {**pair, "translation": np.array([b"b", b"c"])}, None)


@pytest.mark.parametrize(("name", "number"), [("layer", 1), ("layer", -1), ("head", 2)])
def test_a_layer_or_head_that_the_model_lacks_is_refused(name, number):
    config = Config(num_decoder_layers=1, num_heads=2)
    inputs = {"text": np.array([b"a"]), "layer": np.array([0]), "head": np.array([1])}
    check_values("head", inputs, config)
    with pytest.raises(RequestError, match=f"'{name}' must be from 0 to .. Received: {number}."):
        check_values("head", {**inputs, name: np.array([number])}, config)
