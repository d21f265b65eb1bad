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
    PositionalEncoding,
    RotaryEmbedding,
    ShawRelativePosition,
    T5RelativeBias,
    Transformer,
)

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
every_position = pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)


def randomise(layer):
    random = np.random.default_rng(4)
    for weight in layer.trainable_variables:
        weight.assign(random.normal(size=weight.shape) * 0.5)
    return layer


def language_model(**options):
    model = Decoder(V, LAYERS, D, F, H, cross_attention=False, **options)
    model.build((None, None))
    return randomise(model)


def test_rms_block_equals_the_formula():
    x = np.random.default_rng(1).normal(size=(2, 5, D)).astype(np.float32)
    block = EncoderBlock(D, F, H, norm="rms", gated=True, activation="silu")
    block.build(x.shape)
    scales = {}
    for weight in block.weights:
        if "norm" in weight.path:
            weight.assign(np.random.default_rng(2).uniform(0.5, 2, weight.shape))
            scales["around_feed" if "around_feed" in weight.path else "around_self"] = weight

    def norm(x, scale):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * scale.numpy()

    attend, feed = block._self_attention, block._feed_forward
    normed = norm(x, scales["around_self"])
    y = x + ops.convert_to_numpy(attend(normed, normed))
    z = norm(y, scales["around_feed"])
    expected = y + ops.convert_to_numpy(feed(z))
    np.testing.assert_allclose(block(x), expected, atol=1e-5)


@every_position
def test_order_of_tokens_matters_with_positions(position):
    encoder = Encoder(V, LAYERS, D, F, H, position=position)
    encoder.build((None, None))
    randomise(encoder)
    ids = np.array([[3, 5, 7, 2]])
    order = [1, 3, 0, 2]  # not the reverse, which penalties of distance do not notice
    there, moved = (ops.convert_to_numpy(encoder(x)) for x in (ids, ids[:, order]))
    assert np.abs(there[:, order] - moved).max() > 1e-3


def test_order_of_tokens_does_not_matter_without_positions():
    encoder = Encoder(V, LAYERS, D, F, H, position=None)
    ids = np.array([[3, 5, 7, 2]])
    there, back = (ops.convert_to_numpy(encoder(x)) for x in (ids, ids[:, ::-1]))
    np.testing.assert_allclose(there, back[:, ::-1], atol=1e-5)


@every_position
def test_language_model_steps_with_cache_give_logits_and_weights_of_the_whole(position):
    model = language_model(position=position, num_kv_heads=1, window=3, norm="rms")
    ids = IDS[:1]
    whole, whole_weights = model(ids, return_attention_scores=True)
    cache = model.make_cache(1, 4)
    for start, end in ((0, 2), (2, 3), (3, 4)):
        logits, weights, cache = model(
            ids[:, start:end], cache=cache, start=start, return_attention_scores=True
        )
        np.testing.assert_allclose(logits, whole[:, start:end], atol=2e-5)
        assert sorted(weights) == ["block_0/self_attention", "block_1/self_attention"]
        for name, part in weights.items():
            np.testing.assert_allclose(part, whole_weights[name][:, :, start:end], atol=1e-5)


def test_each_block_learns_positions_of_its_own():
    encoder = Encoder(V, LAYERS, D, F, H, position=ShawRelativePosition(2))
    encoder.build((None, None))
    paths = [w.path for w in encoder.trainable_variables if w.shape == (5, D // H)]
    assert len(paths) == len(set(paths)) == 2 * LAYERS


@every_position
def test_configuration_holds_every_option(position):
    options = {"gated": True, "norm": "rms", "num_kv_heads": 1, "window": 3, "position": position}
    decoder = language_model(tie_embeddings=True, **options)
    for layer in (decoder, Encoder(V, LAYERS, D, F, H, **options)):
        twin = type(layer).from_config(layer.get_config())
        assert twin.get_config() == layer.get_config()
    twin = Decoder.from_config(decoder.get_config())
    twin.build((None, None))
    twin.set_weights(decoder.get_weights())
    np.testing.assert_allclose(twin(IDS), decoder(IDS), atol=1e-6)


def test_model_with_positions_that_have_weights_is_saved_and_loaded(tmp_path):
    encoder = Encoder(V, LAYERS, D, F, H, position=ShawRelativePosition(2), dropout=0.1)
    decoder = Decoder(V, LAYERS, D, F, H, position=LearnedPositionalEncoding(9), norm="rms")
    model = Transformer(encoder, decoder)
    model.build(((None, None), (None, None)))
    randomise(model)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded((IDS, IDS)), model((IDS, IDS)), atol=1e-6)


def test_tied_logits_are_products_with_the_embeddings():
    model = language_model(tie_embeddings=True)
    assert sum(V in w.shape for w in model.trainable_variables) == 1
    (table,) = (w.numpy() for w in model.trainable_variables if V in w.shape)
    states = ops.convert_to_numpy(model.states(IDS))
    np.testing.assert_allclose(model(IDS), states @ table.T, atol=1e-5)


def test_weights_of_every_layer_come_by_name():
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


def test_cached_steps_give_the_weights_over_the_memory_too():
    model = Transformer.from_sizes(V, V, 1, 2, D, F, H)
    ids = IDS[:1]
    _, whole = model((ids, ids), return_attention_scores=True)
    memory = model.encoder(ids)
    cache = model.decoder.make_cache(1, 4, memory)
    for start in range(4):
        _, weights, cache = model.decoder(
            ids[:, start : start + 1], cache=cache, start=start, return_attention_scores=True
        )
        for name, part in weights.items():
            expected = whole[f"decoder/{name}"][:, :, start : start + 1]
            np.testing.assert_allclose(part, expected, atol=1e-5)


@pytest.mark.slow
def test_language_model_learns_to_count():
    keras.utils.set_random_seed(1)
    model_ids = keras.Input((None,), dtype="int32")
    options = {"cross_attention": False, "position": RotaryEmbedding(), "blockwise": False}
    decoder = Decoder(V, 1, 16, 32, 2, **options)
    model = keras.Model(model_ids, decoder(model_ids))
    model.compile(
        keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    first = np.random.default_rng(2).integers(1, V, (256, 1))
    ids = (first + np.arange(9) - 1) % (V - 1) + 1
    model.fit(ids[:, :-1], ids[:, 1:], epochs=8, batch_size=32, verbose=0)
    predicted = model.predict(ids[:, :-1], verbose=0).argmax(-1)
    assert (predicted == ids[:, 1:]).mean() > 0.99


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: EncoderBlock(D, F, H, norm="batch"), "`norm` must be one of 'layer', 'rms'"),
        (lambda: DecoderBlock(D, F, H, num_kv_heads=2), "num_heads=3, num_kv_heads=2"),
        (lambda: Encoder(V, 0, D, F, H), "`num_layers` must be a positive integer. Received"),
        (lambda: Encoder(V, 1, D, F, H, position="rotary"), "Received: position='rotary'"),
        (lambda: Decoder(V, 1, D, F, H, tie_embeddings=1), "`tie_embeddings` must be True or"),
        (lambda: Decoder(V, 1, D, F, H, cross_attention=None), "`cross_attention` must be True"),
        (lambda: Encoder(V, 1, D, F, H, colour="red"), "colour"),
    ],
)
def test_options_that_mean_nothing_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
