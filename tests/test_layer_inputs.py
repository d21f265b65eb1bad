"""Every layer answers or refuses whatever can be fed to it, under every way of calling."""

import warnings

import keras
import numpy as np
import pytest
from every_layer import (
    IDS,
    LAYERS,
    MEMORY,
    OF_FLOATS,
    SAME_SIZE,
    X,
    every_layer,
    make,
    many_layers,
    same,
    symbolic,
)
from keras import ops

import keras_attn
from keras_attn import any_size, blockwise

ATTENTION = [label for label in LAYERS if "Attention" in label]
of_attention = pytest.mark.parametrize("name", ATTENTION)


@pytest.mark.parametrize("name", OF_FLOATS)
def test_integers_and_booleans_are_what_the_same_floats_are(name):
    layer, inputs = make(name)
    integers = [np.round(3 * x).astype(np.int64) for x in inputs]
    same(layer(*integers), layer(*[x.astype(np.float32) for x in integers]))
    booleans = [x > 0 for x in inputs]
    same(layer(*booleans), layer(*[x.astype(np.float32) for x in booleans]))
    output = layer(*[keras.Input(x.shape[1:], dtype="int32") for x in inputs])
    assert output.dtype == "float32"


@of_attention
@pytest.mark.parametrize("any_size", [False, True])
def test_keys_of_batch_one_serve_all_queries(name, any_size, compiled):
    layer, (query, key) = make(name)
    query = np.concatenate([query, 2 * query, -query])
    one, all_ = key[:1], np.repeat(key[:1], 6, axis=0)
    expected = layer(query, all_)
    same(layer(query, one), expected)
    same(layer(query, one, one, valid_lens=[3] * 6), layer(query, all_, valid_lens=[3] * 6))
    same(compiled(layer, jit_compile=False, any_size=any_size)(query, one), expected)


@pytest.mark.parametrize("name", ["DecoderBlock", "Decoder"])
def test_a_memory_of_batch_one_serves_all_rows(name):
    layer, (x, memory) = make(name)
    same(layer(x, memory[:1]), layer(x, np.repeat(memory[:1], 2, axis=0)))


@many_layers
def test_answers_block_by_block_are_those_of_all_at_once(name, monkeypatch, compiled):
    layer, inputs = make(name)
    expected = layer(*inputs)
    monkeypatch.setattr(any_size, "BLOCKWISE_WEIGHTS", 0)
    monkeypatch.setattr(blockwise, "BLOCK_QUERIES", 2)
    same(layer(*inputs), expected)
    if name != "Transformer":  # the graph of its pair of inputs has known sizes
        same(compiled(layer, jit_compile=False, any_size=True)(*inputs), expected)


def test_positions_and_masks_are_taken_as_lists():
    layer = keras_attn.MultiHeadAttention(6, 3, position=keras_attn.RotaryEmbedding())
    positions, mask = np.arange(5) * 2, np.ones((2, 5), bool)
    expected = layer(X, X, positions=positions, key_mask=mask)
    same(layer(X, X, positions=positions.tolist(), key_mask=mask.tolist()), expected)
    same(layer(X, X, positions=[positions.tolist()] * 2), expected)


@many_layers
def test_float16_as_the_default_of_keras(name):
    keras.config.set_floatx("float16")
    try:
        layer, inputs = make(name)
        entries = symbolic(inputs)
        model = keras.Model(entries, layer(*entries))
        found = model.predict(inputs if len(inputs) > 1 else inputs[0], verbose=0)
        assert np.isfinite(found).all()
    finally:
        keras.config.set_floatx("float32")


def cut(inputs, empty):
    """The inputs of a layer with empty axes, among B, T (of queries) and S (of keys)."""
    queries, keys = {"B": 0, "T": 1}, {"B": 0, "S": 1}

    def without(x, own):
        slices = [slice(None)] * x.ndim
        for letter in set(empty) & set(own):
            slices[own[letter]] = slice(0)
        return x[tuple(slices)]

    if isinstance(inputs[0], list):  # source and target ids
        return [[without(x, own) for x, own in zip(inputs[0], [keys, queries], strict=True)]]
    return [without(inputs[0], queries), *[without(x, keys) for x in inputs[1:]]]


@many_layers
def test_empty_axes_give_empty_axes(name, compiled):
    layer, inputs = make(name)
    features = layer(*inputs).shape[2:]
    for empty in ("B", "T", "S", "TS", "BTS"):
        given = cut(inputs, empty)
        shape = (0 if "B" in empty else 2, 0 if "T" in empty else 5, *features)
        output = layer(*given)
        assert tuple(output.shape) == shape, empty
        assert np.isfinite(ops.convert_to_numpy(output)).all(), empty
    for jit_compile in (False, True):
        assert tuple(compiled(layer, jit_compile=jit_compile)(*given).shape) == shape


@pytest.mark.parametrize("scheme", ["T5RelativeBias", "AlibiBias", "RotaryEmbedding", "Shaw"])
@pytest.mark.parametrize(("num_queries", "num_keys"), [(0, 4), (3, 0), (0, 0)])
def test_empty_sequences_have_positions(scheme, num_queries, num_keys):
    make_scheme = getattr(keras_attn, scheme, lambda: keras_attn.ShawRelativePosition(2))
    layer = keras_attn.MultiHeadAttention(6, 2, position=make_scheme())
    output = layer(X[:, :num_queries], SAME_SIZE[:, :num_keys])
    assert tuple(output.shape) == (2, num_queries, 6)


@every_layer
def test_output_shape_is_known_without_a_call(name):
    layer, inputs = make(name)
    shapes = keras.tree.map_structure(np.shape, inputs)
    assert tuple(layer.compute_output_shape(*shapes)) == tuple(layer(*inputs).shape)


@pytest.mark.parametrize(
    "name",
    [label for label, (_, (x, *rest)) in LAYERS.items() if not rest and (x is X or x is IDS)],
)
def test_time_distributed_applies_to_each_step(name):
    layer, (x,) = make(name)
    entry = keras.Input((3, *x.shape[1:]), dtype=x.dtype.name)
    model = keras.Model(entry, keras.layers.TimeDistributed(layer)(entry))
    given = np.stack([x, x[:, ::-1], x], axis=1)
    output = ops.convert_to_numpy(model(given))
    assert output.shape == model.compute_output_shape(given.shape)
    for step in range(3):
        same(output[:, step], layer(given[:, step]))


@pytest.mark.parametrize("name", OF_FLOATS)
def test_other_sizes_than_the_built_ones_are_named(name):
    layer, inputs = make(name)
    layer(*inputs)
    arguments = ["query", "key"] if "Attention" in name else ["x", "memory"]
    if name == "Residual":
        pytest.skip("the layer around it is a user's")
    for i, argument in enumerate(arguments[: len(inputs)]):
        others = list(inputs)
        others[i] = inputs[i][..., :3]
        size = inputs[i].shape[-1]
        message = rf"`{argument}` must have {size} features.*Received: {argument}.shape=\(2, \d, 3"
        with pytest.raises(ValueError, match=message):
            layer(*others)


@pytest.mark.parametrize("name", OF_FLOATS)
def test_more_axes_than_three_are_named(name):
    layer, inputs = make(name)
    if name in ("FeedForward", "Residual"):
        pytest.skip("applies to the last axis, whatever is before it")
    with pytest.raises(ValueError, match=r"must have shape \(B, [TS], D\)"):
        layer(inputs[0][..., None], *inputs[1:])


@pytest.mark.parametrize("rank", [2, 4])
@pytest.mark.parametrize("name", ["PositionalEncoding", "LearnedPositionalEncoding"])
def test_symbolic_inputs_of_other_ranks_are_named(name, rank):
    layer, _ = make(name)
    with pytest.raises(ValueError, match=r"`x` must have shape \(B, T, D\)"):
        layer(keras.Input((4,) * (rank - 1)))


@pytest.mark.parametrize(
    "name", [label for label, (_, inputs) in LAYERS.items() if inputs[0] is not X]
)
@pytest.mark.parametrize("wrong", [9, -1, 400])
def test_an_id_outside_of_the_vocabulary_is_named(name, wrong):
    layer, inputs = make(name)
    ids = IDS.copy()
    ids[1, 2] = wrong
    inputs = keras.tree.map_structure(lambda x: ids if x is IDS else x, inputs)
    with pytest.raises(ValueError, match=r"`ids` must be at least 0 and below vocab_size=9"):
        layer(*inputs)


@pytest.mark.parametrize(
    "name", [label for label, (_, inputs) in LAYERS.items() if inputs[0] is not X]
)
def test_symbolic_ids_that_are_floats_are_named(name):
    layer, inputs = make(name)
    entries = keras.tree.map_structure(lambda x: keras.Input(x.shape[1:]), inputs)
    with pytest.raises(ValueError, match=r"`ids` must be integers.*float32"):
        layer(*entries)


@of_attention
def test_symbolic_lengths_and_masks_of_wrong_dtypes_are_named(name):
    layer, inputs = make(name)
    with pytest.raises(ValueError, match=r"`valid_lens` must be integers.*float32"):
        layer(*symbolic(inputs), valid_lens=keras.Input(()))
    with pytest.raises(ValueError, match=r"`attention_mask` must be boolean.*float32"):
        layer(*symbolic(inputs), attention_mask=keras.Input((5, 7)))


@of_attention
def test_key_and_value_in_keras_order_do_not_pass_silently(name):
    if "MultiHead" not in name:
        pytest.skip("the layer that Keras has under the same name")
    layer, (query, key) = make(name)
    value = np.ones((2, 7, 3), np.float32)
    with pytest.warns(UserWarning, match=r"call order is \(query, key, value\)"):
        layer(query, key, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer(query, key, value=value)


def test_a_cache_of_another_batch_size_is_named():
    layer, memory = keras_attn.MultiHeadAttention(6, 3), MEMORY
    layer(X, X)
    with pytest.raises(ValueError, match=r"`cache` must have the batch size of the queries, 2"):
        layer(X, X, cache=layer.make_cache(3, 9))
    block = keras_attn.DecoderBlock(6, 7, 3)
    with pytest.raises(ValueError, match=r"`cache` must have the batch size of the queries, 2"):
        block(X, cache=block.make_cache(3, 9, np.repeat(memory, 2, axis=0)[:3]))


def test_masked_softmax_takes_keras_inputs():
    scores, mask = keras.Input((3, 4)), keras.Input((3, 4), dtype="bool")
    model = keras.Model([scores, mask], keras_attn.masked_softmax(scores, mask=mask))
    assert model.output_shape == (None, 3, 4)
    given = np.zeros((2, 3, 4), np.float32), np.arange(24).reshape(2, 3, 4) % 4 < 2
    np.testing.assert_allclose(model(given), given[1] / 2)
