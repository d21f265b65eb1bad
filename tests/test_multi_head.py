import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_attn import MultiHeadAttention

B, T, S, D, H = 2, 5, 7, 6, 3


def reference(layer, query, key, value, mask):
    """The formula head by head in float64; `mask` broadcasts to `(B, H, T, S)`."""
    w_q, w_k, w_v, w_o = (w.numpy().astype(np.float64) for w in layer.weights)
    size = layer.num_hiddens // layer.num_heads
    mask = np.broadcast_to(mask, (len(query), layer.num_heads, query.shape[1], key.shape[1]))
    heads, weights = [], []
    for h in range(layer.num_heads):
        part = slice(h * size, (h + 1) * size)
        q, k, v = query @ w_q[:, part], key @ w_k[:, part], value @ w_v[:, part]
        scores = np.einsum("btd,bsd->bts", q, k) / np.sqrt(size)
        powers = np.where(mask[:, h], np.exp(scores), 0.0)
        total = powers.sum(-1, keepdims=True)
        weights.append(np.divide(powers, total, out=np.zeros_like(powers), where=total > 0))
        heads.append(weights[-1] @ v)
    return np.concatenate(heads, -1) @ w_o, np.stack(weights, 1)


@pytest.fixture
def inputs():
    random = np.random.default_rng(11)
    return [random.normal(size=shape) for shape in ((B, T, 4), (B, S, 5), (B, S, 8))]


def single(arrays):
    return [a.astype(np.float32) for a in arrays]


def make_masks(random):
    lens = random.integers(0, S + 1, (B, T))
    by_head = random.random((B, H, T, S)) < 0.7
    key_mask = random.random((B, S)) < 0.7
    query_mask = random.random((B, T)) < 0.7
    causal = np.tril(np.ones((T, S), bool))
    return [
        ({}, np.ones((1, 1, 1, 1), bool)),
        ({"valid_lens": lens[:, 0]}, np.arange(S) < lens[:, :1, None, None]),
        ({"valid_lens": lens}, (np.arange(S) < lens[..., None])[:, None]),
        ({"attention_mask": by_head}, by_head),
        ({"use_causal_mask": True}, causal),
        (
            {"use_causal_mask": True, "key_mask": key_mask, "query_mask": query_mask},
            (causal & key_mask[:, None] & query_mask[:, :, None])[:, None],
        ),
        (
            {"attention_mask": by_head[:, 0], "value_mask": key_mask, "valid_lens": lens},
            (by_head[:, 0] & key_mask[:, None] & (np.arange(S) < lens[..., None]))[:, None],
        ),
    ]


@pytest.mark.parametrize("case", range(7))
def test_output_and_weights_equal_the_formula(inputs, case):
    masks, mask = make_masks(np.random.default_rng(1))[case]
    layer = MultiHeadAttention(D, H)
    output, weights = layer(*single(inputs), **masks, return_attention_scores=True)
    expected, expected_weights = reference(layer, *inputs, mask)
    np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-5)
    np.testing.assert_array_equal(layer(*single(inputs), **masks), output)


def test_gradients_equal_finite_differences(inputs, gradients):
    layer = MultiHeadAttention(D, H)
    layer(*single(inputs))
    mask = np.arange(S) < np.array([4, 0])[:, None, None, None]
    direction = np.random.default_rng(3).normal(size=(B, T, D))
    weighting = direction.astype(np.float32)
    found = gradients(
        lambda *inputs: ops.sum(ops.multiply(layer(*inputs, valid_lens=[4, 0]), weighting)),
        *single(inputs),
    )
    random = np.random.default_rng(4)
    for i, gradient in enumerate(found):
        step = random.normal(size=inputs[i].shape)
        ends = []
        for sign in (1, -1):
            moved = list(inputs)
            moved[i] = inputs[i] + sign * 1e-5 * step
            ends.append((reference(layer, *moved, mask)[0] * direction).sum())
        numeric = (ends[0] - ends[1]) / 2e-5
        assert np.sum(gradient * step) == pytest.approx(numeric, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("causal", [False, True])
def test_equals_keras_multi_head_attention_with_the_same_weights(causal):
    random = np.random.default_rng(5)
    x = random.normal(size=(B, T, D)).astype(np.float32)
    mask = random.random((B, T, T)) < 0.7
    mask |= np.eye(T, dtype=bool)  # Keras answers otherwise for a row without keys
    ours = MultiHeadAttention(D, H, use_bias=True)
    theirs = keras.layers.MultiHeadAttention(H, D // H)
    ours(x, x), theirs(x, x)
    for variable in ours.trainable_variables:
        variable.assign(random.normal(size=variable.shape))
    copied = []
    for weight in ours.get_weights():
        copied.append(weight.reshape((D, H, -1) if weight.ndim == 2 else (H, -1)))
    copied[-2] = copied[-2].reshape(D, D).reshape(H, -1, D)  # the output joins the heads again
    copied[-1] = copied[-1].reshape(D)
    theirs.set_weights(copied)
    kwargs = {"attention_mask": mask, "use_causal_mask": causal, "return_attention_scores": True}
    for mine, other in zip(ours(x, x, **kwargs), theirs(x, x, **kwargs), strict=True):
        np.testing.assert_allclose(mine, other, atol=2e-5)


def test_mask_of_an_embedding_arrives_by_itself():
    ids = np.array([[3, 5, 0, 0], [2, 0, 4, 1]])
    x = keras.layers.Embedding(8, D, mask_zero=True)(ids)
    layer = MultiHeadAttention(D, H)
    _, weights = layer(x, x, return_attention_scores=True)
    weights = ops.convert_to_numpy(weights)
    assert (weights.transpose(0, 3, 1, 2)[ids == 0] == 0).all()  # padded keys
    assert (weights.transpose(0, 2, 1, 3)[ids == 0] == 0).all()  # padded queries
    np.testing.assert_allclose(weights.transpose(0, 2, 1, 3)[ids != 0].sum(-1), 1, atol=1e-6)


def test_future_changes_neither_value_nor_gradient_of_the_past(gradients):
    x = np.random.default_rng(6).normal(size=(1, T, D)).astype(np.float32)
    layer = MultiHeadAttention(D, H)
    before = layer(x, x, use_causal_mask=True)
    changed = x.copy()
    changed[:, 3] = np.nan
    after = layer(changed, changed, use_causal_mask=True)
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    (gradient,) = gradients(lambda x: ops.sum(layer(x, x, use_causal_mask=True)[:, :3]), x)
    assert (gradient[:, 3:] == 0).all() and (gradient[:, :3] != 0).any()


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_padding_content_and_amount_change_nothing(seed, num_more):
    random = np.random.default_rng(seed)
    query = random.normal(size=(B, T, D)).astype(np.float32)
    key = random.normal(size=(B, S, D)).astype(np.float32)
    layer = MultiHeadAttention(D, H)
    lens = random.integers(0, S + 1, B)
    expected = layer(query, key, valid_lens=lens)
    more = np.pad(key, ((0, 0), (0, num_more), (0, 0)))
    more[np.arange(S + num_more) >= lens[:, None]] = random.choice([np.nan, np.inf, -1e30, 3.0])
    np.testing.assert_allclose(layer(query, more, valid_lens=lens), expected, atol=1e-6)


def test_row_without_keys_is_zero_with_finite_gradients(inputs, weight_gradients):
    layer = MultiHeadAttention(D, H)
    for results in layer(*single(inputs), valid_lens=[0, 3], return_attention_scores=True):
        assert (ops.convert_to_numpy(results)[0] == 0).all()
    for gradient in weight_gradients(
        layer, lambda: ops.sum(layer(*single(inputs), valid_lens=[0, 3]) ** 2)
    ):
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("jit_compile", [False, True])
def test_steps_with_cache_equal_the_whole_sequence(compiled, jit_compile):
    x = np.random.default_rng(8).normal(size=(B, T, D)).astype(np.float32)
    layer = MultiHeadAttention(D, H)
    whole, whole_weights = layer(x, x, use_causal_mask=True, return_attention_scores=True)

    def step(x, start, cache):
        return layer(
            x, x, use_causal_mask=True, return_attention_scores=True, start=start, cache=cache
        )

    step = compiled(step, jit_compile=jit_compile)
    cache = layer.make_cache(B, T + 2)
    for start, end in ((0, 2), (2, 3), (3, T)):  # steps of several sizes
        part, position = map(ops.convert_to_tensor, (x[:, start:end], start))
        output, weights, cache = step(part, position, cache)
        np.testing.assert_allclose(output, whole[:, start:end], atol=1e-5)
        np.testing.assert_allclose(weights[..., :T], whole_weights[:, :, start:end], atol=1e-5)
        assert (ops.convert_to_numpy(weights)[..., T:] == 0).all()


def test_projected_memory_equals_the_memory(inputs):
    query, key, value = single(inputs)
    layer = MultiHeadAttention(D, H)
    expected = layer(query, key, value, valid_lens=[4, 2])
    cache = layer.project_memory(key, value)
    output, kept = layer(query, cache=cache, valid_lens=[4, 2])
    np.testing.assert_allclose(output, expected, atol=1e-6)
    assert kept["key"] is cache["key"]


@pytest.mark.parametrize("jit_compile", [False, True])
def test_graph_equals_eager_with_sizes_known_at_run_time_only(inputs, compiled, jit_compile):
    layer = MultiHeadAttention(D, H)
    query, key, value = single(inputs)
    expected = layer(query, key, value, valid_lens=[4, 0], use_causal_mask=True)

    def call(q, k, v):
        return layer(q, k, v, valid_lens=[4, 0], use_causal_mask=True)

    graph = compiled(call, jit_compile=jit_compile, any_size=True)
    np.testing.assert_allclose(graph(query, key, value), expected, atol=1e-5)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((510, 8), "num_hiddens=510, num_heads=8. Use num_hiddens=512"),
        ((8, 0), "`num_heads` must be a positive integer. Received: num_heads=0"),
        ((8.0, 2), "Received: num_hiddens=8.0"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(*arguments)


def test_neither_key_nor_cache_is_refused():
    with pytest.raises(ValueError, match="`key` must be given, or a `cache`"):
        MultiHeadAttention(D, H)(np.ones((B, T, D)))


@pytest.mark.parametrize("start, new", [(0, 5), (3, 2)])
def test_cache_that_is_too_short_is_refused(start, new):
    layer = MultiHeadAttention(D, H)
    x = np.ones((B, new, D), np.float32)
    message = rf"a cache of length 4. Make it with make_cache\(batch_size, length={start + new}\)"
    with pytest.raises(ValueError, match=message):
        layer(x, x, cache=layer.make_cache(B, 4), start=start, use_causal_mask=True)


def test_cache_takes_keys_up_to_its_end():
    layer = MultiHeadAttention(D, H)
    x = np.ones((B, 2, D), np.float32)
    _, cache = layer(x, x, cache=layer.make_cache(B, 5), start=3, use_causal_mask=True)
    written = np.any(ops.convert_to_numpy(cache["key"]) != 0, axis=(0, 1, 3))
    assert written.tolist() == [False, False, False, True, True]


@pytest.mark.parametrize(
    "name, shape",
    [
        ("value", (2, 7, 4)),
        ("valid_lens", (3,)),
        ("attention_mask", (2, 3, 4)),
        ("attention_mask", (2, 4, 3, 5)),
        ("query_mask", (2, 5)),
        ("key_mask", (2, 3)),
        ("value_mask", (2, 1, 5)),
    ],
)
def test_shapes_that_do_not_fit_are_refused_by_name(name, shape):
    query, key = np.ones((2, 3, 4), np.float32), np.ones((2, 5, 4), np.float32)
    message = rf"`{name}` must have shape .*S=5, H=2\. Received: {name}\.shape="
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(4, 2)(query, key, **{name: np.ones(shape, np.int32)})


def test_input_without_a_batch_is_refused():
    with pytest.raises(ValueError, match=r"`query` must have shape \(B, T, D\)"):
        MultiHeadAttention(4, 2)(np.ones((3, 4)), np.ones((2, 5, 4)))
