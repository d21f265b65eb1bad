"""Options that encoder and decoder share."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import (
    AlibiBias,
    Decoder,
    DecoderBlock,
    Encoder,
    EncoderBlock,
    LearnedPositionalEncoding,
    MultiHeadAttention,
    PositionalEncoding,
    RotaryEmbedding,
    ShawRelativePosition,
    T5RelativeBias,
    Transformer,
)
from keras_attn.position_schemes import SCHEMES

V, LAYERS, D, F, H = 11, 2, 6, 7, 3
IDS = np.array([[3, 5, 7, 2], [2, 4, 0, 0]])
POSITIONS = {
    "sinusoidal": "sinusoidal",
    "long sinusoidal": PositionalEncoding(max_len=2),
    "learned": LearnedPositionalEncoding(9),
    "shaw": ShawRelativePosition(2),
    "t5": T5RelativeBias(8, 20),
    "alibi": AlibiBias(),
    "rotary": RotaryEmbedding(100),
}


def randomise(layer):
    random = np.random.default_rng(4)
    for weight in layer.trainable_variables:
        weight.assign(random.normal(size=weight.shape) * 0.5)
    return layer


def language_model(**options):
    model = Decoder(V, LAYERS, D, F, H, cross_attention=False, **options)
    model.build((None, None))
    return randomise(model)


BY_NAME = {
    "sinusoidal": PositionalEncoding(),
    "sinusoidal_halves": PositionalEncoding(interleaved=False),
    "shaw": ShawRelativePosition(16),
    "t5": T5RelativeBias(),
    "alibi": AlibiBias(),
    "rotary": RotaryEmbedding(),
}


def test_a_position_scheme_has_a_name():
    assert {*BY_NAME, "learned"} == set(SCHEMES)
    for name, layer in BY_NAME.items():
        named, given = (language_model(position=position)(IDS) for position in (name, layer))
        np.testing.assert_allclose(named, given, atol=1e-6)
    with pytest.raises(ValueError, match="`max_len` must be a positive integer"):
        language_model(position="learned")


def test_order_of_tokens_matters_with_positions_alone():
    ids = np.array([[3, 5, 7, 2]])
    order = [1, 3, 0, 2]  # not the reverse, which penalties of distance do not notice
    for name, position in {**POSITIONS, "none": None}.items():
        encoder = Encoder(V, 1, D, F, H, position=position)
        encoder.build((None, None))
        randomise(encoder)
        there, moved = (ops.convert_to_numpy(encoder(x)) for x in (ids, ids[:, order]))
        change = np.abs(there[:, order] - moved).max()
        assert change < 1e-5 if position is None else change > 1e-3, name
        twin = Encoder.from_config(encoder.get_config())
        twin.build((None, None))
        twin.set_weights(encoder.get_weights())
        np.testing.assert_allclose(twin(ids), there, atol=1e-6, err_msg=name)


def test_language_model_steps_with_cache_give_logits_and_weights_of_the_whole():
    ids = IDS[:1]
    for name in ("long sinusoidal", "learned", "t5"):
        model = language_model(position=POSITIONS[name], num_kv_heads=1, window=3, norm="rms")
        whole, whole_weights = model(ids, return_attention_scores=True)
        cache = model.make_cache(1, 4)
        for start, end in ((0, 2), (2, 3), (3, 4)):
            logits, weights, cache = model(
                ids[:, start:end], cache=cache, start=start, return_attention_scores=True
            )
            np.testing.assert_allclose(logits, whole[:, start:end], atol=2e-5, err_msg=name)
            assert sorted(weights) == ["block_0/self_attention", "block_1/self_attention"]
            for block, part in weights.items():
                expected = whole_weights[block][:, :, start:end]
                np.testing.assert_allclose(part, expected, atol=1e-5, err_msg=name)


def test_model_with_positions_that_have_weights_is_saved_and_loaded(tmp_path):
    encoder = Encoder(V, LAYERS, D, F, H, position=ShawRelativePosition(2), dropout=0.1)
    decoder = Decoder(V, 1, D, F, H, position=LearnedPositionalEncoding(9), norm="rms")
    model = Transformer(encoder, decoder)
    model.build(((None, None), (None, None)))
    randomise(model)
    paths = [w.path for w in encoder.trainable_variables if w.shape == (5, D // H)]
    assert len(paths) == len(set(paths)) == 2 * LAYERS  # those of each block are its own
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded((IDS, IDS)), model((IDS, IDS)), atol=1e-6)


def test_tied_logits_are_products_with_the_embeddings():
    model = language_model(tie_embeddings=True)
    (table,) = (ops.convert_to_numpy(w) for w in model.trainable_variables if V in w.shape)
    states = ops.convert_to_numpy(model.states(IDS))
    np.testing.assert_allclose(model(IDS), states @ table.T, atol=1e-5)


def test_weights_of_every_layer_come_by_name_with_cached_steps_too():
    model = Transformer.from_sizes(V, V, 2, 1, D, F, H)
    source = np.array([[3, 5, 7, 2, 4], [2, 4, 0, 0, 0]])
    logits, weights = model((source, IDS), return_attention_scores=True)
    assert {name: tuple(part.shape) for name, part in weights.items()} == {
        "encoder/block_0/self_attention": (2, H, 5, 5),
        "encoder/block_1/self_attention": (2, H, 5, 5),
        "decoder/block_0/self_attention": (2, H, 4, 4),
        "decoder/block_0/cross_attention": (2, H, 4, 5),
    }
    np.testing.assert_allclose(logits, model((source, IDS)), atol=1e-6)
    cross = ops.convert_to_numpy(weights["decoder/block_0/cross_attention"])
    np.testing.assert_allclose(cross.sum(-1), np.repeat((IDS != 0)[:, None], H, 1), atol=1e-5)
    assert (cross[1, :, :, 2:] == 0).all()
    own = ops.convert_to_numpy(weights["decoder/block_0/self_attention"])
    assert (np.triu(np.ones((4, 4)), 1) * own == 0).all()
    cache = model.decoder.make_cache(2, 4, model.encoder(source))
    for t in range(4):
        step = {"cache": cache, "start": t, "return_attention_scores": True}
        _, parts, cache = model.decoder(IDS[:, t : t + 1], **step)
        for name, part in parts.items():
            expected = weights[f"decoder/{name}"][:, :, t : t + 1]
            np.testing.assert_allclose(part, expected, atol=1e-5)


def test_options_of_a_block_reach_its_attention_and_network():
    options = {"use_bias": True, "num_kv_heads": 1, "head_size": 5, "use_gate": True}
    options |= {"qk_norm": "rms", "norm_epsilon": 0.1, "soft_cap": 2.0, "use_sinks": True}
    options |= {"blockwise": False, "dropout": 0.25}
    for block in (EncoderBlock(8, 9, 2, **options), DecoderBlock(8, 9, 2, **options)):
        kinds = [layer for layer in block._flatten_layers() if type(layer) is MultiHeadAttention]
        assert len(kinds) == (2 if isinstance(block, DecoderBlock) else 1)
        for attention in kinds:
            assert {name: getattr(attention, name) for name in options} == options
