import keras
import numpy as np
import pytest
from every_layer import IDS, X
from keras import ops

from keras_attn import Decoder, DecoderBlock, MultiHeadAttention, RotaryEmbedding, Transformer

SIZES = {"num_hiddens": 8, "ffn_num_hiddens": 9, "num_heads": 2}
SOURCE = np.array([[3, 4, 0, 0], [5, 6, 7, 8], [2, 0, 0, 0]])
TARGET = np.array([[2, 3, 4, 5], [2, 5, 0, 0], [2, 6, 7, 3]])


def by_steps(decoder, ids, cache, **kwargs):
    logits = []
    for t in range(ids.shape[1]):
        step, cache = decoder(ids[:, t : t + 1], cache=cache, start=t, **kwargs)
        logits.append(ops.convert_to_numpy(step))
    return np.concatenate(logits, axis=1)


@pytest.mark.parametrize("norm_first", [False, True])
def test_padding_of_the_source_is_kept_in_the_cache(norm_first):
    model = Transformer.from_sizes(9, 9, 1, 2, **SIZES, norm_first=norm_first)
    expected = model((SOURCE, TARGET))
    memory = model.encoder(SOURCE)
    cache = model.decoder.make_cache(3, 4, memory)
    whole, _ = model.decoder(TARGET, cache=cache)
    np.testing.assert_allclose(whole, expected, atol=1e-5)
    np.testing.assert_allclose(by_steps(model.decoder, TARGET, cache), expected, atol=1e-5)
    if norm_first:
        return
    memory = ops.convert_to_tensor(ops.convert_to_numpy(memory))  # without its mask
    given = model.decoder.make_cache(3, 4, memory, memory_mask=SOURCE != 0)
    np.testing.assert_allclose(by_steps(model.decoder, TARGET, given), expected, atol=1e-5)
    later = model.decoder.make_cache(3, 4, memory)
    steps = by_steps(model.decoder, TARGET, later, memory_mask=SOURCE != 0)
    np.testing.assert_allclose(steps, expected, atol=1e-5)


@pytest.mark.parametrize("position", ["sinusoidal", RotaryEmbedding()], ids=["added", "rotary"])
def test_a_prompt_padded_on_the_left_has_its_logits_with_a_cache(position):
    model = Decoder(9, 1, **SIZES, cross_attention=False, position=position)
    ids = np.array([[0, 0, 7, 8, 3], [1, 2, 3, 4, 5], [0, 6, 2, 0, 4]])
    expected = ops.convert_to_numpy(model(ids))
    start, cache = model(ids[:, :3], cache=model.make_cache(3, 9))
    np.testing.assert_allclose(start, expected[:, :3], atol=1e-5)
    for t in (3, 4):
        step, cache = model(ids[:, t : t + 1], cache=cache, start=t)
        np.testing.assert_allclose(step[:, 0], expected[:, t], atol=1e-5)


def test_masks_are_kept_in_a_compiled_step_and_hide_nan(compiled):
    layer, mask = MultiHeadAttention(6, 3), np.array([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]], bool)
    expected = layer(X, X, use_causal_mask=True, key_mask=mask)
    keys = np.where(mask[..., None], X, np.nan).astype("float32")

    def step(*arguments):
        query, key, mask, start, cache = arguments
        return layer(query, key, use_causal_mask=True, key_mask=mask, start=start, cache=cache)

    step, cache = compiled(step), layer.make_cache(2, 7)
    for t in range(5):
        parts = (ops.convert_to_tensor(x[:, t : t + 1]) for x in (X, keys, mask))
        output, cache = step(*parts, ops.convert_to_tensor(t), cache)
        np.testing.assert_allclose(output[:, 0], expected[:, t], atol=1e-5)
    assert ops.convert_to_numpy(cache["mask"])[:, :5].tolist() == mask.tolist()
    expected = layer(X, X, key_mask=mask)
    output, _ = layer(X, cache=layer.project_memory(keys, memory_mask=mask))
    np.testing.assert_allclose(output, expected, atol=1e-5)
    output, _ = layer(X, cache=layer.project_memory(keys), key_mask=mask)
    np.testing.assert_allclose(output, expected, atol=1e-5)


def test_without_the_causal_mask_nothing_is_attended_that_was_not_written():
    layer = MultiHeadAttention(6, 3)
    expected = layer(X, X)
    output, _ = layer(X, X, cache=layer.make_cache(2, 9))
    np.testing.assert_allclose(output, expected, atol=1e-5)
    made_by_hand = {name: ops.zeros((2, 3, 5, 2)) for name in ("key", "value")}  # without a mask
    output, cache = layer(X, X, use_causal_mask=True, cache=made_by_hand)
    np.testing.assert_allclose(output, layer(X, X, use_causal_mask=True), atol=1e-5)
    assert set(cache) == {"key", "value"}


def test_a_cache_made_before_the_first_call_breaks_nothing():
    memory = X[:, :3]
    decoder, block = Decoder(9, 1, **SIZES), DecoderBlock(6, 7, 2)
    steps = by_steps(decoder, IDS, decoder.make_cache(2, 5, memory))
    np.testing.assert_allclose(steps, decoder(IDS, memory), atol=1e-5)
    output, _ = block(X, cache=block.make_cache(2, 5, memory))
    np.testing.assert_allclose(output, block(X, memory), atol=1e-5)


def test_a_memory_that_is_missing_or_comes_too_early_is_named_and_builds_nothing():
    layer, decoder = MultiHeadAttention(6, 2), Decoder(9, 1, **SIZES)
    with pytest.raises(ValueError, match="before `project_memory`.*built=False"):
        layer.project_memory(X)
    layer.make_cache(2, 3)
    assert tuple(layer(X, X).shape) == X.shape
    assert len(layer.weights) == 4
    with pytest.raises(ValueError, match="`memory` must be given"):
        decoder.make_cache(2, 5)
    assert not decoder.built


def test_gradients_flow_through_a_cache(gradients):
    layer = MultiHeadAttention(6, 2)
    layer.build(X.shape)
    length = X.shape[1]

    def by_steps(x):
        cache, outputs = layer.make_cache(X.shape[0], length), []
        for t in range(length):
            row = x[:, t : t + 1]
            output, cache = layer(row, row, cache=cache, start=t, use_causal_mask=True)
            outputs.append(output)
        return ops.concatenate(outputs, axis=1)

    (expected,) = gradients(lambda x: ops.sum(layer(x, x, use_causal_mask=True) ** 2), X)
    (found,) = gradients(lambda x: ops.sum(by_steps(x) ** 2), X)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_step_of_one_position_is_quiet(recwarn):
    layer = MultiHeadAttention(6, 2)
    layer(X[:, :1], X[:, :1], cache=layer_cache(layer), use_causal_mask=True)
    assert not [str(warning.message) for warning in recwarn]


def layer_cache(layer):
    layer.build(X.shape)
    return layer.make_cache(X.shape[0], 1)


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="integers of two sizes are JAX's")
def test_integers_of_two_sizes_meet_in_a_cache_and_in_blocks():
    import jax

    layer = MultiHeadAttention(6, 2, window=3)
    layer.build(X.shape)
    expected = ops.convert_to_numpy(layer(X, X, use_causal_mask=True))
    with jax.enable_x64(True):
        layer.blockwise = True
        np.testing.assert_allclose(layer(X, X, use_causal_mask=True), expected, atol=1e-5)
        start = jax.numpy.zeros((), "int32")
        cache = layer.make_cache(X.shape[0], X.shape[1])
        found, _ = layer(X, X, cache=cache, start=start, use_causal_mask=True)
    np.testing.assert_allclose(found, expected, atol=1e-5)
