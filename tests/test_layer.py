import keras
import numpy as np
from every_layer import X

from keras_attn import EncoderBlock, MultiHeadAttention
from keras_attn.layer import state_of_sublayers, walk_sublayers


def built(**kwargs):
    block = EncoderBlock(6, 7, 3, dropout=0.1, **kwargs)
    block(X)
    return block


def test_sublayers_are_named_by_their_path():
    paths = [path for path, _ in walk_sublayers(built())]
    assert "self_attention/query_dense" in paths
    assert "around_feed_forward/norm" in paths
    assert len(set(paths)) == len(paths)


def test_a_layer_that_was_left_as_it_was_made_has_no_state():
    assert state_of_sublayers(built()) == {}
    assert "sublayers" not in built().get_config()


def test_state_names_what_differs_from_the_layer_above():
    block = built()
    block._self_attention.trainable = False
    block._self_attention._key_dense.trainable = True
    state = {
        "self_attention": {"trainable": False},
        "self_attention/key_dense": {"trainable": True},
    }
    assert state_of_sublayers(block) == state
    twin = EncoderBlock.from_config(block.get_config())
    assert twin.get_config() == block.get_config()  # before it is built, too
    twin.build(X.shape)
    assert state_of_sublayers(twin) == state
    names = {v.path.split("/")[-2] for v in twin._self_attention.trainable_variables}
    assert names == set()
    assert [v.trainable for v in twin._self_attention._key_dense.variables] == [True]


def test_weights_made_after_a_layer_was_frozen_are_frozen():
    layer = MultiHeadAttention(6, 3)
    layer.trainable = False
    layer(X, X)
    assert not any(v.trainable for v in layer.variables)


def test_float_inputs_are_left_to_keras_and_others_are_cast():
    layer = MultiHeadAttention(6, 3, dtype="mixed_bfloat16")
    for dtype in ("float32", "float64", "int32", "bool"):
        output = layer(X.astype(dtype), X.astype(dtype))
        assert keras.backend.standardize_dtype(output.dtype) == "bfloat16"


def test_a_seed_gives_each_sublayer_a_seed_of_its_own():
    seeds = [
        layer._dropout.seed
        for layer in (built(seed=1)._self_attention, built(seed=2)._self_attention)
    ]
    assert seeds[0] != seeds[1]
    assert built(seed=1)._self_attention._dropout.seed == seeds[0]
    assert np.isscalar(seeds[0])
