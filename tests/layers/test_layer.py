from every_layer import X

from keras_attn import EncoderBlock, MultiHeadAttention
from keras_attn.layers.dropout import Dropout
from keras_attn.layers.layer import state_of_sublayers


def test_state_names_what_differs_from_the_layer_above():
    block = EncoderBlock(6, 7, 3, dropout=0.1)
    block(X)
    assert state_of_sublayers(block) == {} and "sublayers" not in block.get_config()
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
    assert twin._self_attention.trainable_variables == []
    assert [v.trainable for v in twin._self_attention._key_dense.variables] == [True]


def test_weights_made_after_a_layer_was_frozen_are_frozen():
    layer = MultiHeadAttention(6, 3)
    layer.trainable = False
    layer(X, X)
    assert not any(v.trainable for v in layer.variables)


def test_a_seed_gives_each_sublayer_a_seed_of_its_own():
    first, again, other = (EncoderBlock(6, 7, 3, dropout=0.1, seed=seed) for seed in (1, 1, 2))
    seeds = [layer.seed for layer in first._flatten_layers() if isinstance(layer, Dropout)]
    assert len(seeds) > 2 and len({*seeds}) == len(seeds)
    assert seeds == [layer.seed for layer in again._flatten_layers() if isinstance(layer, Dropout)]
    assert other._self_attention._dropout.seed not in seeds
