import numpy as np
import pytest

from keras_attn import Decoder, Encoder, Transformer
from keras_attn.positions import PositionalEncoding
from keras_attn.translation.decoding.beam_search import BLOCK
from keras_attn.translation.decoding.folding import NO_PIECE, fold, positions


def test_one_product_where_the_input_is_one_and_logits_in_blocks(tiny_model):
    folded = fold(tiny_model)
    assert folded["encoder/0/self_input/kernel"].shape == (12, 3 * 12)
    assert folded["decoder/1/memory/kernel"].shape == (12, 2 * 12)
    assert folded["logits/kernel"].shape == (12, BLOCK)
    assert (folded["logits/bias"][11:] == NO_PIECE).all()
    assert folded["encoder/embeddings"].shape == (13, 12)


def test_all_that_is_added_to_the_stream_has_a_mean_of_zero(tiny_model):
    folded = fold(tiny_model)
    added = [n for n in folded if "embeddings" in n or "_output" in n or "/outer/" in n]
    assert len(added) == 2 + 6 + 2 * 4
    for name in added:
        np.testing.assert_allclose(folded[name].mean(-1), 0, atol=1e-12)
    np.testing.assert_allclose(positions(9, 12).mean(-1), 0, atol=1e-7)


def test_positions_are_those_of_the_encoding_but_for_their_mean():
    expected = np.asarray(PositionalEncoding()(np.zeros((1, 9, 12))))[0]
    differences = expected - positions(9, 12)
    np.testing.assert_allclose(differences, differences[:, :1] + np.zeros(12), atol=1e-6)


@pytest.mark.parametrize("option", [{"norm_first": False}, {"activation": "gelu"}])
def test_a_model_of_other_parts_is_refused(option):
    sizes = {"num_layers": 1, "num_hiddens": 4, "ffn_num_hiddens": 8, "num_heads": 2}
    model = Transformer(Encoder(5, **sizes), Decoder(6, **sizes, **option))
    model.build(((None, None), (None, None)))
    (name,) = option
    with pytest.raises(ValueError, match=f"from_sizes.*Received: Decoder with {name}="):
        fold(model)


@pytest.mark.parametrize("option", [{"num_heads": 4}, {"num_hiddens": 8}, {"dropout": 0.2}])
def test_sides_of_other_sizes_are_refused(option):
    sizes = {"num_layers": 1, "num_hiddens": 4, "ffn_num_hiddens": 8, "num_heads": 2}
    model = Transformer(Encoder(5, **{**sizes, **option}), Decoder(6, **sizes))
    model.build(((None, None), (None, None)))
    (name,) = option
    with pytest.raises(
        ValueError, match=rf"from_sizes.*Received: Encoder with {name}=.* \(decoder: {name}="
    ):
        fold(model)
