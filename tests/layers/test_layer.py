from every_layer import X

from keras_attn import EncoderBlock
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
