import keras
import numpy as np
import pytest
from attention_of_heads import (
    B,
    H,
    S,
    T,
    draw_weights,
    every_scheme,
    formula,
    normal,
    small_blocks,
    some_call,
    some_inputs,
    some_layer,
)
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn import EncoderBlock, MultiHeadAttention, PositionalEncoding


@every_scheme
@settings(deadline=None, max_examples=5, derandomize=True, phases=[Phase.generate])
@given(st.integers(0, 2**32 - 1))
def test_output_and_weights_equal_the_formula_with_any_options_and_masks(scheme, seed):
    (layer, arguments, allowed), inputs = some_call(scheme, seed), some_inputs()
    expected, expected_weights = formula(layer, *inputs, allowed, arguments["start"])
    output, weights = layer(*inputs, **arguments, return_attention_scores=True)
    np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-5)
    assert (ops.convert_to_numpy(weights)[~allowed] == 0).all()
    np.testing.assert_allclose(layer(*inputs, **arguments), output, atol=1e-4)


def test_output_equals_the_formula_with_all_options_at_once():
    options = {"num_kv_heads": 2, "value_dim": 4, "output_shape": 11, "use_gate": True}
    options |= {"qk_norm": "rms", "soft_cap": 1.5, "use_sinks": True, "use_bias": True}
    layer, inputs = some_layer("shaw", window=3, **options), some_inputs()
    allowed = np.random.default_rng(0).random((B, H, T, S)) < 0.5
    t, s = np.ogrid[:T, :S]
    expected, _ = formula(layer, *inputs, allowed & (np.abs(s - t) < 3))
    for blockwise in (False, True):
        layer.blockwise = blockwise
        output = layer(*inputs, attention_mask=allowed)
        np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-4)


def test_gradients_equal_finite_differences(gradients):
    layer = some_layer("shaw", soft_cap=1.5, use_sinks=True, use_gate=True, qk_norm="rms")
    inputs, direction = some_inputs(), normal(B, T, 30)
    mask = np.arange(5) < np.array([4, 0])[:, None, None, None]
    found = gradients(
        lambda *inputs: ops.sum(ops.multiply(layer(*inputs, valid_lens=[4, 0]), direction)), *inputs
    )
    for i, gradient in enumerate(found):
        step = normal(*inputs[i].shape, seed=7)
        ends = []
        for sign in (1, -1):
            moved = [x.astype(np.float64) for x in inputs]
            moved[i] += sign * 1e-5 * step
            ends.append((formula(layer, *moved, mask)[0] * direction).sum())
        numeric = (ends[0] - ends[1]) / 2e-5
        assert np.sum(gradient * step) == pytest.approx(numeric, rel=1e-3, abs=1e-3)


def test_equals_keras_multi_head_attention_with_the_same_weights():
    size, num_heads = 6, 3
    x, random = normal(B, T, size), np.random.default_rng(5)
    # Keras answers otherwise for a row without keys
    mask = (random.random((B, T, T)) < 0.7) | np.eye(T, dtype=bool)
    ours = draw_weights(MultiHeadAttention(size, num_heads, use_bias=True), x, x, x)
    theirs = keras.layers.MultiHeadAttention(num_heads, size // num_heads)
    theirs(x, x)
    # The shapes differ alone: heads are an axis of Keras's weights.
    pairs = zip(ours.get_weights(), theirs.weights, strict=True)
    theirs.set_weights([weight.reshape(other.shape) for weight, other in pairs])
    for causal in (False, True):
        kwargs = {"attention_mask": mask, "use_causal_mask": causal}
        kwargs["return_attention_scores"] = True
        for mine, other in zip(ours(x, x, **kwargs), theirs(x, x, **kwargs), strict=True):
            np.testing.assert_allclose(mine, other, atol=2e-5)


def test_projected_memory_equals_the_memory():
    query, key, value = some_inputs()
    layer = some_layer()
    expected = layer(query, key, value, valid_lens=[4, 2])
    cache = layer.project_memory(key, value)
    output, kept = layer(query, cache=cache, valid_lens=[4, 2])
    np.testing.assert_allclose(output, expected, atol=1e-5)
    assert kept["key"] is cache["key"]


def test_cache_takes_keys_up_to_its_end_and_no_further():
    layer, x = MultiHeadAttention(6, 3), np.ones((B, 2, 6), np.float32)
    _, cache = layer(x, x, cache=layer.make_cache(B, 5), start=3, use_causal_mask=True)
    written = np.any(ops.convert_to_numpy(cache["key"]) != 0, axis=(0, 1, 3))
    assert written.tolist() == [False, False, False, True, True]
    message = r"a cache of length 5. Make it with make_cache\(batch_size, length=6\)"
    with pytest.raises(ValueError, match=message):
        layer(x, x, cache=layer.make_cache(B, 5), start=4, use_causal_mask=True)


def test_epsilon_of_all_normalisations_is_the_one_given():
    layer = MultiHeadAttention(8, 2, qk_norm="rms", norm_epsilon=0.5)
    x = np.full((1, 3, 8), 0.1, np.float32)
    layer.build(x.shape)
    layer.set_weights([np.eye(8, dtype=np.float32)] * 4 + [np.ones(4, np.float32)] * 2)
    keys = layer.project_memory(x)["key"]
    np.testing.assert_allclose(keys, np.full(keys.shape, 0.1 / 0.51**0.5), rtol=1e-5)
    block = EncoderBlock(8, 9, 2, qk_norm="rms", norm_epsilon=0.5)
    assert block._self_attention._key_norm.epsilon == 0.5


@every_scheme
def test_float64_has_its_digits_on_every_backend(scheme):
    if keras.backend.backend() == "jax":
        pytest.skip("JAX has no float64 unless it is asked to")
    options = {"num_kv_heads": 2, "soft_cap": 2.0, "use_sinks": True, "qk_norm": "rms"}
    inputs = [x.astype(np.float64) for x in some_inputs()]
    layer = some_layer(scheme, inputs, use_bias=True, dtype="float64", **options)
    expected, _ = formula(layer, *inputs)
    for blockwise in (False, True):
        layer.blockwise = blockwise
        np.testing.assert_allclose(layer(*inputs), expected, atol=1e-12)
    encoding = PositionalEncoding(4, dtype="float64")(np.zeros((1, 9, 6)))
    angles = np.arange(9)[:, None] / 10000.0 ** (np.arange(0, 6, 2) / 6)
    np.testing.assert_allclose(encoding[0, :, ::2], np.sin(angles), atol=1e-12)


@pytest.mark.parametrize("shape", [(T, S), (B, T, S), (B, H, T, S), (1, H, 1, S), (B, 1, T, 1)])
def test_a_bias_is_added_to_the_scores_and_has_a_gradient(gradients, shape):
    layer, inputs = some_layer("t5", num_kv_heads=2, soft_cap=2.0, window=4), some_inputs()
    bias = 2.0 * normal(*shape, seed=7)
    mask = np.random.default_rng(3).random((B, H, T, S)) < 0.7
    t, s = np.ogrid[:T, :S]
    given = bias[:, None] if bias.ndim == 3 else bias
    allowed = mask & (np.abs(s - t) < 4)
    expected, weights = formula(layer, *inputs, allowed, bias=given)
    _, found = layer(
        *inputs, attention_mask=mask, attention_bias=bias, return_attention_scores=True
    )
    np.testing.assert_allclose(found, weights, atol=1e-5)
    results = []
    for blockwise in (False, True):
        layer.blockwise = blockwise

        def call(*x):
            return layer(*x[:3], attention_mask=mask, attention_bias=x[3])

        with small_blocks():
            output = call(*inputs, bias)
            found = gradients(lambda *x: ops.sum(call(*x) ** 2), *inputs, bias)
        np.testing.assert_allclose(output, expected, atol=1e-4)
        results.append(found)
    assert np.abs(results[0][3]).max() > 1e-3
    for at_once, by_blocks in zip(*results, strict=True):
        np.testing.assert_allclose(by_blocks, at_once, atol=2e-4, rtol=1e-3)


def test_a_bias_of_integers_is_refused():
    with pytest.raises(ValueError, match="`attention_bias` must be floats.*int.*attention_mask"):
        some_layer()(*some_inputs(), attention_bias=np.ones((T, S), np.int32))


def test_keys_of_a_memory_have_positions_of_their_own():
    layer = some_layer("rotary")
    query, key, value = some_inputs()
    positions, of_keys = np.arange(T) + 5, np.arange(S) * 3
    output = layer(query, key, value, positions=positions, key_positions=of_keys)
    cache = layer.project_memory(key, value, positions=of_keys)
    np.testing.assert_allclose(layer(query, cache=cache, positions=positions)[0], output, atol=1e-5)
    shifted = layer(query, key, value, positions=positions + 7, key_positions=of_keys + 7)
    np.testing.assert_allclose(shifted, output, atol=1e-4)
    other = layer(query, key, value, positions=positions, key_positions=of_keys + 1)
    assert np.abs(ops.convert_to_numpy(other) - ops.convert_to_numpy(output)).max() > 1e-3
    with pytest.raises(ValueError, match=r"`key_positions` must have shape \(B, S\) or \(S,\)"):
        layer(query, key, value, positions=positions, key_positions=of_keys[:2])
