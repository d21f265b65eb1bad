import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn import (
    AlibiBias,
    EncoderBlock,
    MultiHeadAttention,
    RotaryEmbedding,
    ShawRelativePosition,
    T5RelativeBias,
    any_size,
    blockwise,
)
from keras_attn.any_size import attend_any_size, view_keys
from keras_attn.heads import attend
from keras_attn.relative import OffsetTerms

B, T, S, D, H = 2, 7, 5, 12, 4
SCHEMES = [
    lambda: None,
    lambda: ShawRelativePosition(3),
    lambda: T5RelativeBias(8, 20),
    AlibiBias,
    RotaryEmbedding,
]


def attention(**kwargs):
    layer = MultiHeadAttention(D, H, **kwargs)
    layer.build((None, None, D), (None, None, D))
    random = np.random.default_rng(1)
    for weight in layer.trainable_variables:
        weight.assign(random.normal(size=weight.shape) * 0.5)
    return layer


def normal(*shape, seed=2):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def some_masks(random):
    """Any combination of masks."""
    masks = {
        "valid_lens": random.integers(0, S + 1, (B, T) if random.random() < 0.5 else (B,)),
        "attention_mask": random.random(
            [(T, S), (1, T, S), (B, 1, S), (B, H, T, S)][random.integers(4)]
        )
        < 0.7,
        "use_causal_mask": True,
        "query_mask": random.random((B, T)) < 0.7,
        "key_mask": random.random((B, S)) < 0.7,
        "value_mask": random.random((B, S)) < 0.7,
    }
    return {name: mask for name, mask in masks.items() if random.random() < 0.5}


@pytest.fixture
def go(monkeypatch):
    """`go(by_blocks, function, ...)`: calls it with one path forced upon every layer."""

    def go(by_blocks, function, block_queries=3, block_weights=2**23):
        with monkeypatch.context() as patch:
            patch.setattr(any_size, "BLOCKWISE_WEIGHTS", 0 if by_blocks else 2**62)
            patch.setattr(blockwise, "BLOCK_QUERIES", block_queries)
            patch.setattr(blockwise, "BLOCK_WEIGHTS", block_weights)
            return function()

    return go


@settings(deadline=None, max_examples=12, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    make=st.sampled_from(SCHEMES),
    num_kv_heads=st.sampled_from([1, 2, 4]),
    window=st.sampled_from([None, 2]),
    block_queries=st.sampled_from([2, 3, 512]),
    block_weights=st.sampled_from([1, 30, 2**23]),
)
def test_blocks_give_the_values_and_gradients_of_all_at_once(
    gradients, seed, make, num_kv_heads, window, block_queries, block_weights
):
    # A fixture of one example cannot serve many, so the paths are forced by hand.
    random = np.random.default_rng(seed)
    layer = attention(position=make(), num_kv_heads=num_kv_heads, window=window)
    masks, start = some_masks(random), int(random.integers(3))
    query, key = normal(B, T, D, seed=seed), normal(B, S, D, seed=seed + 1)
    direction = normal(B, T, D)
    found = []
    before = any_size.BLOCKWISE_WEIGHTS, blockwise.BLOCK_QUERIES, blockwise.BLOCK_WEIGHTS
    for limit in (2**62, 0):
        any_size.BLOCKWISE_WEIGHTS = limit
        blockwise.BLOCK_QUERIES, blockwise.BLOCK_WEIGHTS = block_queries, block_weights
        try:

            def loss(query, key):
                return ops.sum(ops.multiply(layer(query, key, start=start, **masks), direction))

            output = ops.convert_to_numpy(layer(query, key, start=start, **masks))
            found.append([output, *gradients(loss, query, key)])
        finally:
            any_size.BLOCKWISE_WEIGHTS, blockwise.BLOCK_QUERIES, blockwise.BLOCK_WEIGHTS = before
    for all_at_once, by_blocks in zip(*found, strict=True):
        np.testing.assert_allclose(by_blocks, all_at_once, atol=5e-5)


@pytest.mark.parametrize("make", SCHEMES)
def test_gradients_of_the_weights_are_those_of_all_at_once(go, weight_gradients, make):
    layer = attention(position=make(), num_kv_heads=2, use_bias=True)
    x, direction = normal(B, T, D), normal(B, T, D, seed=3)

    def find():
        return weight_gradients(
            layer, lambda: ops.sum(ops.multiply(layer(x, x, use_causal_mask=True), direction))
        )

    for all_at_once, by_blocks in zip(go(False, find), go(True, find), strict=True):
        np.testing.assert_allclose(by_blocks, all_at_once, atol=5e-5)


def test_what_stands_behind_the_mask_reaches_neither_output_nor_gradient(go, weight_gradients):
    layer = attention()
    query, key = normal(B, T, D), normal(B, S, D, seed=3)
    masks = {"valid_lens": [3, 0], "query_mask": np.arange(T) < np.array([[4], [T]])}
    expected = go(True, lambda: layer(query, key, **masks))
    query[0, 4:] = np.nan
    key[0, 3:], key[1] = np.inf, np.nan

    def find():
        return weight_gradients(layer, lambda: ops.sum(layer(query, key, **masks) ** 2))

    np.testing.assert_array_equal(go(True, lambda: layer(query, key, **masks)), expected)
    for gradient in go(True, find):
        assert np.isfinite(gradient).all()


def test_key_that_only_the_future_sees_does_not_spoil_the_past(go):
    layer = attention()
    x = normal(B, T, D)
    expected = go(True, lambda: layer(x, x, use_causal_mask=True))
    x[:, 4] = np.nan
    output = ops.convert_to_numpy(go(True, lambda: layer(x, x, use_causal_mask=True)))
    np.testing.assert_array_equal(output[:, :4], expected[:, :4])
    assert np.isnan(output[:, 4:]).all()


def test_value_that_is_not_finite_spoils_every_query_where_nothing_is_masked(go):
    layer = attention()
    query, key = normal(B, T, D), normal(B, S, D, seed=3)
    key[0, 2] = np.inf
    output = ops.convert_to_numpy(go(True, lambda: layer(query, key)))
    assert np.isnan(output[0]).all() and np.isfinite(output[1]).all()


def test_gradient_drops_the_weights_that_were_dropped(go, gradients):
    layer = attention(dropout=0.5)
    query, key, value = normal(B, T, D), normal(B, S, D, seed=3), normal(B, S, D, seed=4)
    direction = normal(B, T, D, seed=5)
    losses = []

    def loss(value):
        output = layer(query, key, value, training=True)
        losses.append(ops.sum(ops.multiply(output, direction)))
        return losses[-1]

    (gradient,) = go(True, lambda: gradients(loss, value))
    # The output is linear in the values: by Euler's theorem the loss is gradient times value.
    if hasattr(losses[0], "primal"):
        losses[0] = losses[0].primal
    assert np.sum(gradient * value) == pytest.approx(float(losses[0]), rel=1e-4)


def test_dropout_drops_about_its_rate_and_differs_from_block_to_block(go):
    layer = attention(dropout=0.4)
    one = np.ones((1, 200, D), np.float32)
    # Keys that differ: of equal keys, only the number of those dropped would count.
    keys = one + 0.1 * normal(1, 200, D)
    outputs = go(True, lambda: layer(one, keys, training=True), block_queries=50)
    rows = ops.convert_to_numpy(outputs)[0]
    calm = ops.convert_to_numpy(layer(one, keys))[0, 0]
    np.testing.assert_allclose(rows.mean(0), calm, atol=0.05 * np.abs(calm).max() + 0.02)
    assert len(np.unique(rows.round(5), axis=0)) == 200


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("limit", [0, 2**62], ids=["blocks", "all at once"])
def test_sizes_known_at_run_time_only_decide_at_run_time(monkeypatch, compiled, jit_compile, limit):
    layer = attention(position=RotaryEmbedding())
    query, key = normal(B, T, D), normal(B, S, D, seed=3)
    expected = layer(query, key, valid_lens=[4, 0])
    monkeypatch.setattr(any_size, "BLOCKWISE_WEIGHTS", limit)
    monkeypatch.setattr(blockwise, "BLOCK_QUERIES", 3)

    def call(query, key):
        return layer(query, key, valid_lens=[4, 0])

    graph = compiled(call, jit_compile=jit_compile, any_size=True)
    np.testing.assert_allclose(graph(query, key), expected, atol=1e-5)


def test_weights_are_given_where_blocks_would_pay(go):
    layer = attention()
    query, key = normal(B, T, D), normal(B, S, D, seed=3)
    expected = go(True, lambda: layer(query, key, valid_lens=[4, 0]))
    output, weights = go(
        True, lambda: layer(query, key, valid_lens=[4, 0], return_attention_scores=True)
    )
    np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(ops.convert_to_numpy(weights)[0].sum(-1), 1.0, atol=1e-5)


# Functions of heads, without a layer around them.

K, KV, G = 3, 2, 2
CAUSAL = {"use_causal_mask": True, "valid_lens": [3, 0]}


def some_inputs(batch_size=B, num_queries=T, num_keys=S, memory_batch=None, terms=("bias",)):
    """Tensors by name, those of heads as `(B, T, H * K)`: the last size alone is always known."""
    memory_batch = batch_size if memory_batch is None else memory_batch
    num_offsets = max(num_queries, 1) + num_keys - 1
    shapes = {"bias": (num_offsets, H), "keys": (num_offsets, K), "values": (num_offsets, KV)}
    return {
        "q": normal(batch_size, num_queries, H * K),
        "k": normal(memory_batch, num_keys, G * K, seed=3),
        "v": normal(memory_batch, num_keys, G * KV, seed=4),
        "sinks": normal(H, seed=5),
        **{name: normal(*shapes[name], seed=6) for name in terms},
    }


def as_heads(x, num_heads):
    """`(B, T, H * K)` as `(B, H, T, K)`."""
    x = ops.reshape(x, (*ops.shape(x)[:2], num_heads, x.shape[-1] // num_heads))
    return ops.transpose(x, (0, 2, 1, 3))


def attention_of(names, masks, soft_cap=None, **kwargs):
    """`function(*tensors)` of the named inputs: sums by the path that the constants choose."""

    def function(*tensors):
        parts = dict(zip(names, map(ops.convert_to_tensor, tensors), strict=True))
        terms = {name: parts[name] for name in OffsetTerms._fields if name in parts}
        if "bias" in terms:
            terms["bias"] = ops.transpose(terms["bias"])
        sums, _ = attend_any_size(
            *(as_heads(parts[name], n) for name, n in zip("qkv", (H, G, G), strict=True)),
            view_keys(parts["q"], ops.shape(parts["k"])[1], H, masks),
            OffsetTerms(**terms),
            soft_cap=soft_cap,
            sinks=parts.get("sinks"),
            **kwargs,
        )
        return sums

    return function


def heads_in_float64(parts):
    arrays = zip("qkv", (H, G, G), strict=True)
    return [np.float64(ops.convert_to_numpy(as_heads(parts[name], n))) for name, n in arrays]


def formula(parts, mask, soft_cap=None):
    """Sums `(B, H, T, Kv)` in float64, one query at a time."""
    q, k, v = heads_in_float64(parts)
    batch_size, _, num_queries, _ = q.shape
    sums = np.zeros((batch_size, H, num_queries, v.shape[-1]))
    for b, h, t in np.ndindex(sums.shape[:3]):
        memory, group = b % len(k), h * G // H
        row = np.arange(k.shape[2]) - t + num_queries - 1
        keys, values = k[memory, group], v[memory, group]
        if "keys" in parts:
            keys = keys + parts["keys"][row]
        if "values" in parts:
            values = values + parts["values"][row]
        scores = keys @ q[b, h, t]
        if "bias" in parts:
            scores = scores + parts["bias"][row, h]
        if soft_cap is not None:
            scores = soft_cap * np.tanh(scores / soft_cap)
        allowed = mask[b, t]
        powers = np.where(allowed, np.exp(scores), 0.0)
        total = powers.sum() + (np.exp(parts["sinks"][h]) if "sinks" in parts else 0.0)
        if allowed.any():
            sums[b, h, t] = powers / total @ values
    return sums


def causal_and_lengths(num_queries=T, num_keys=S, lens=(3, 0)):
    t, s = np.ogrid[:num_queries, :num_keys]
    return (s <= t) & (s < np.array(lens)[:, None, None])


EVERY_WAY = pytest.mark.parametrize("way", ["eager", "graph", "xla", "any size", "any size, xla"])


def run(way, compiled, function):
    if way == "eager":
        return function
    return compiled(function, jit_compile="xla" in way, any_size="any" in way)


@EVERY_WAY
@pytest.mark.parametrize("by_blocks", [False, True])
@pytest.mark.parametrize("soft_cap, terms", [(None, ()), (1.5, ("bias", "keys", "values"))])
def test_soft_cap_sinks_and_narrow_values_follow_the_formula(
    go, compiled, way, by_blocks, soft_cap, terms
):
    inputs = some_inputs(terms=terms)
    function = run(way, compiled, attention_of(inputs, CAUSAL, soft_cap))
    sums = go(by_blocks, lambda: function(*inputs.values()))
    expected = formula(inputs, causal_and_lengths(), soft_cap)
    np.testing.assert_allclose(sums, expected, atol=1e-5)
    assert (ops.convert_to_numpy(sums)[1] == 0).all()


@EVERY_WAY
@pytest.mark.parametrize("by_blocks", [False, True])
def test_keys_of_one_example_serve_all_queries(go, compiled, way, by_blocks):
    inputs = some_inputs(batch_size=3, memory_batch=1, terms=("bias", "keys", "values"))
    function = run(way, compiled, attention_of(inputs, {"use_causal_mask": True}))
    sums = go(by_blocks, lambda: function(*inputs.values()))
    expected = formula(inputs, causal_and_lengths(lens=[S] * 3))
    np.testing.assert_allclose(sums, expected, atol=1e-5)


@pytest.mark.parametrize("memory_batch", [B, 1])
@pytest.mark.parametrize("soft_cap", [None, 1.5])
@pytest.mark.parametrize("way", ["eager", "graph", "any size"])
def test_gradients_of_every_input_are_those_of_all_at_once(
    go, gradients, compiled, way, soft_cap, memory_batch
):
    inputs = some_inputs(memory_batch=memory_batch, terms=("bias", "keys", "values"))
    direction = normal(B, H, T, KV, seed=7)
    attention = attention_of(inputs, CAUSAL, soft_cap)

    def loss(*tensors):
        return ops.sum(ops.multiply(attention(*tensors), direction))

    expected = go(False, lambda: gradients(loss, *inputs.values()))
    found = go(True, lambda: gradients(run(way, compiled, loss), *inputs.values()))
    for name, gradient, at_once in zip(inputs, found, expected, strict=True):
        np.testing.assert_allclose(gradient, at_once, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("way", ["eager", "graph", "xla", "any size"])
@pytest.mark.parametrize("by_blocks", [False, True])
@pytest.mark.parametrize("soft_cap, terms", [(None, ()), (1.5, ("bias", "keys", "values"))])
def test_gradient_penalty_has_the_gradient_of_all_at_once(
    go, gradients, gradient_tensors, compiled, way, by_blocks, soft_cap, terms
):
    inputs = some_inputs(terms=terms)
    direction = normal(B, H, T, KV, seed=7)
    attention = attention_of(inputs, CAUSAL, soft_cap)

    def penalty(*tensors):
        def loss(*tensors):
            sums = attention(*tensors)
            return ops.sum(ops.multiply(sums, direction) + sums**2)

        return sum(ops.sum(g**2) for g in gradient_tensors(loss, *tensors))

    expected = go(False, lambda: gradients(penalty, *inputs.values()))
    found = go(by_blocks, lambda: gradients(run(way, compiled, penalty), *inputs.values()))
    for name, gradient, at_once in zip(inputs, found, expected, strict=True):
        scale = np.abs(at_once).max()
        np.testing.assert_allclose(gradient, at_once, atol=1e-5 * scale, err_msg=name)


def test_second_derivative_drops_what_was_dropped(go, gradients, gradient_tensors):
    inputs = some_inputs()
    del inputs["sinks"]

    def squares(*tensors):
        generator = keras.random.SeedGenerator(1)
        attention = attention_of(inputs, CAUSAL, dropout=0.5, seed_generator=generator)
        direction = normal(B, H, T, KV, seed=7)
        loss = lambda *tensors: ops.sum(ops.multiply(attention(*tensors), direction))  # noqa: E731
        found = gradient_tensors(loss, *tensors)[1]
        return ops.sum(ops.multiply(found, normal(B, S, G * K, seed=8)))

    first = go(True, lambda: gradients(squares, *inputs.values()))
    step = 1e-2
    for position in [(0, 0, 0), (0, 1, 3)]:
        sides = []
        for sign in (1, -1):
            moved = {name: x.copy() for name, x in inputs.items()}
            moved["v"][position] += sign * step
            tensors = [ops.convert_to_tensor(x) for x in moved.values()]
            sides.append(float(go(True, lambda tensors=tensors: squares(*tensors))))
        # The first derivative is linear in the values: the difference is exact but for rounding.
        difference = (sides[0] - sides[1]) / (2 * step)
        assert first[2][position] == pytest.approx(difference, abs=1e-3)


@pytest.mark.parametrize("by_blocks", [False, True])
@pytest.mark.parametrize("way", ["eager", "any size"])
def test_half_floats_whose_products_overflow_give_numbers(go, gradients, compiled, way, by_blocks):
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
    """As `formula`, for sinks of 0 and scores whose powers overflow."""
    q, k, v = heads_in_float64(parts)
    k, v = k.repeat(H // G, axis=1), v.repeat(H // G, axis=1)
    scores = np.where(mask[:, None], q @ k.swapaxes(-1, -2), -np.inf)
    scores = np.concatenate([scores, np.zeros((*scores.shape[:-1], 1))], axis=-1)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return (powers / powers.sum(-1, keepdims=True))[..., :-1] @ v


@EVERY_WAY
@pytest.mark.parametrize("by_blocks", [False, True])
@pytest.mark.parametrize("empty", ["B", "T", "S", "TS"])
def test_empty_axes_give_empty_or_zero_sums(go, gradients, compiled, way, by_blocks, empty):
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


@pytest.mark.parametrize("make", [SCHEMES[0], SCHEMES[1], SCHEMES[2]])
def test_compiled_training_takes_any_length(compiles, make):
    x = normal(4, T, 8)
    weights = []
    for jit_compile in (False, compiles):
        inputs = keras.Input((None, 8))
        block = EncoderBlock(8, 16, 2, position=make())
        model = keras.Model(inputs, block(inputs))
        for i, weight in enumerate(model.weights):
            weight.assign(normal(*weight.shape, seed=i) * 0.3)
        model.compile("sgd", "mse", jit_compile=jit_compile)
        for length in (T, 4, 6):
            model.fit(x[:, :length], x[:, :length], verbose=0, shuffle=False)
        weights.append(model.get_weights())
    for plain, by_compiler in zip(*weights, strict=True):
        assert np.isfinite(plain).all()
        np.testing.assert_allclose(by_compiler, plain, atol=1e-4)


def test_weights_of_a_sink_are_missing_from_the_keys():
    q, k, v, sinks = some_inputs(terms=()).values()
    q, k, v = (as_heads(x, n) for x, n in zip((q, k, v), (H, G, G), strict=True))
    _, weights = attend(q, k, v, None, OffsetTerms(), lambda weights: weights, sinks=sinks)
    _, without = attend(q, k, v, None, OffsetTerms(), lambda weights: weights)
    weights, without = ops.convert_to_numpy(weights), ops.convert_to_numpy(without)
    assert (weights.sum(-1) < 1).all()
    np.testing.assert_allclose(weights / weights.sum(-1, keepdims=True), without, atol=1e-6)
