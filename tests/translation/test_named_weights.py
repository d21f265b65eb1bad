import numpy as np

from keras_attn.translation import named_weights


def test_weights_of_a_model_are_found_by_their_places(tiny_model):
    found = named_weights.of_model(tiny_model)
    assert len(found) == len(tiny_model.weights)
    by_path = {weight.path: weight for weight in tiny_model.weights}
    for path, weight in by_path.items():
        np.testing.assert_array_equal(found[named_weights.path_in_model(path)], weight)


def test_place_is_the_same_whatever_the_model_is_called():
    for name in (
        "transformer_3/encoder/norm/gamma:0",
        "encoder/norm/gamma",
        "a/encoder/norm/gamma",
    ):
        assert named_weights.path_in_model(name) == "encoder/norm/gamma"
