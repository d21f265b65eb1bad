import keras
import numpy as np
import pytest
from attention_of_heads import (
    CAUSAL,
    KV,
    B,
    G,
    H,
    S,
    T,
    as_heads,
    attention_of,
    causal_and_lengths,
    every_way,
    formula,
    go,
    heads_in_float64,
    run,
    some_inputs,
)
from keras import ops

from keras_attn.heads import attend
from keras_attn.relative import OffsetTerms


@every_way()
@pytest.mark.parametrize("by_blocks", [False, True])
@pytest.mark.parametrize("soft_cap, terms", [(None, ()), (1.5, ("bias", "keys", "values"))])
def test_soft_cap_sinks_and_narrow_values_follow_the_formula(
    compiled, way, by_blocks, soft_cap, terms
):
    inputs = some_inputs(terms=terms)
    function = run(way, compiled, attention_of(inputs, CAUSAL, soft_cap))
    sums = go(by_blocks, lambda: function(*inputs.values()))
    expected = formula(inputs, causal_and_lengths(), soft_cap)
    np.testing.assert_allclose(sums, expected, atol=1e-5)
    assert (ops.convert_to_numpy(sums)[1] == 0).all()


@every_way()
@pytest.mark.parametrize("by_blocks", [False, True])
def test_keys_of_one_example_serve_all_queries(compiled, way, by_blocks):
    inputs = some_inputs(batch_size=3, memory_batch=1, terms=("bias", "keys", "values"))
    function = run(way, compiled, attention_of(inputs, {"use_causal_mask": True}))
    sums = go(by_blocks, lambda: function(*inputs.values()))
    expected = formula(inputs, causal_and_lengths(lens=[S] * 3))
    np.testing.assert_allclose(sums, expected, atol=1e-5)


@pytest.mark.parametrize("by_blocks", [False, True])
@every_way("graph", "xla", "any size, xla")
def test_half_floats_whose_products_overflow_give_numbers(gradients, compiled, way, by_blocks):
    inputs = {name: (200 * x).astype(np.float16) for name, x in some_inputs(terms=()).items()}
    inputs["v"], inputs["sinks"] = inputs["v"] / 200, np.zeros(H, np.float16)
    inputs["q"][0, 0], inputs["k"][0, 0] = 300, 300  # 270 000 > 65 504
    attention = attention_of(inputs, CAUSAL)
    sums = go(by_blocks, lambda: run(way, compiled, attention)(*inputs.values()))
    assert keras.backend.standardize_dtype(sums.dtype) == "float16"
    expected = formula_of_large_scores(inputs, causal_and_lengths())
    np.testing.assert_allclose(ops.cast(sums, "float32"), expected, atol=2e-3)

    def loss(*tensors):
        return ops.sum(ops.cast(run(way, compiled, attention)(*tensors), "float32"))

    for gradient in go(by_blocks, lambda: gradients(loss, *inputs.values())):
        assert np.isfinite(gradient).all()


def formula_of_large_scores(parts, mask):
    """Sums of `formula` for sinks of 0 and scores whose powers overflow."""
    q, k, v = heads_in_float64(parts)
    k, v = k.repeat(H // G, axis=1), v.repeat(H // G, axis=1)
    scores = np.where(mask[:, None], q @ k.swapaxes(-1, -2), -np.inf)
    scores = np.concatenate([scores, np.zeros((*scores.shape[:-1], 1))], axis=-1)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return (powers / powers.sum(-1, keepdims=True))[..., :-1] @ v


@every_way("graph", slow=["any size, xla"])
@pytest.mark.parametrize("by_blocks", [False, True])
@pytest.mark.parametrize("empty", ["B", "T", "S", "TS"])
def test_empty_axes_give_empty_or_zero_sums(gradients, compiled, way, by_blocks, empty):
    batch_size, num_queries, num_keys = (
        0 if letter in empty else size for letter, size in zip("BTS", (B, T, S), strict=True)
    )
    inputs = some_inputs(batch_size, num_queries, num_keys, terms=("bias", "keys", "values"))
    attention = attention_of(inputs, {"use_causal_mask": True}, soft_cap=2.0)
    sums = go(by_blocks, lambda: run(way, compiled, attention)(*inputs.values()))
    np.testing.assert_array_equal(sums, np.zeros((batch_size, H, num_queries, KV)))

    def loss(*tensors):
        return ops.sum(run(way, compiled, attention)(*tensors))

    for gradient in go(by_blocks, lambda: gradients(loss, *inputs.values())):
        assert (gradient == 0).all()


def test_weights_of_a_sink_are_missing_from_the_keys():
    q, k, v, sinks = some_inputs(terms=()).values()
    q, k, v = (as_heads(x, n) for x, n in zip((q, k, v), (H, G, G), strict=True))
    _, weights = attend(q, k, v, None, OffsetTerms(), lambda weights: weights, sinks=sinks)
    _, without = attend(q, k, v, None, OffsetTerms(), lambda weights: weights)
    weights, without = ops.convert_to_numpy(weights), ops.convert_to_numpy(without)
    assert (weights.sum(-1) < 1).all()
    np.testing.assert_allclose(weights / weights.sum(-1, keepdims=True), without, atol=1e-6)
