"""Every layer answers or refuses whatever can be fed to it, under every way of calling."""

import warnings

import keras
import numpy as np
import pytest
from every_layer import IDS, KINDS, LAYERS, X, built, make, same, symbolic
from keras import ops

import keras_attn
from keras_attn.layers import attend, blocks

ON_TENSORFLOW = keras.backend.backend() == "tensorflow"
OF_FLOATS = [label for label, (_, inputs) in LAYERS.items() if inputs[0] is X]
OF_IDS = [label for label in LAYERS if label not in OF_FLOATS]


def refusals(cases, message):
    """Cases whose call is not refused with `message`; a case is (name, layer, inputs)."""
    faults = []
    for name, layer, inputs in cases:
        try:
            layer(*inputs)
            faults.append(f"{name}: accepted")
        except ValueError as error:
            if message not in str(error):
                faults.append(f"{name}: {error}")
    return faults


@pytest.mark.parametrize("name", OF_FLOATS if ON_TENSORFLOW else [*KINDS[:2], "Residual"])
def test_integers_booleans_and_doubles_are_what_the_same_floats_are(name):
    layer, inputs, _ = built(name)
    integers = [np.round(3 * x).astype(np.int64) for x in inputs]
    for given in (integers, [x > 0 for x in inputs], [x.astype(np.float64) for x in inputs]):
        same(layer(*given), layer(*[x.astype(np.float32) for x in given]))
    if name in KINDS:
        assert layer(*symbolic(inputs, dtype="int32")).dtype == "float32"


@pytest.mark.parametrize("name", KINDS[:2])
def test_keys_of_batch_one_serve_all_queries(name, compiled):
    layer, (query, key), _ = built(name)
    query = np.concatenate([query, 2 * query, -query])
    one, all_ = key[:1], np.repeat(key[:1], 6, axis=0)
    expected = layer(query, all_)
    same(layer(query, one), expected)
    same(layer(query, one, one, valid_lens=[3] * 6), layer(query, all_, valid_lens=[3] * 6))
    same(compiled(layer, jit_compile=False, any_size=True)(query, one), expected)
    single = keras_attn.MultiHeadAttention(6, 1)
    for blockwise in (False, True):
        single.blockwise = blockwise
        x = np.repeat(X, 3, axis=0)
        same(single(x, x, x[:1]), single(x, x, np.repeat(x[:1], len(x), axis=0)))
    block, (x, memory), _ = built("DecoderBlock")
    same(block(x, memory[:1]), block(x, np.repeat(memory[:1], 2, axis=0)))


@pytest.mark.parametrize("name", ["MultiHeadAttention-options", "DecoderBlock", "Encoder-alibi"])
def test_answers_block_by_block_are_those_of_all_at_once(name, monkeypatch, compiled):
    layer, inputs, expected = built(name)
    monkeypatch.setattr(attend, "BLOCKWISE_WEIGHTS", 0)
    monkeypatch.setattr(blocks, "BLOCK_QUERIES", 2)
    same(layer(*inputs), expected)
    if name in KINDS:
        same(compiled(layer, jit_compile=False, any_size=True)(*inputs), expected)


def test_positions_and_masks_are_taken_as_lists():
    layer = keras_attn.MultiHeadAttention(6, 3, position=keras_attn.RotaryEmbedding())
    positions, mask = np.arange(5) * 2, np.ones((2, 5), bool)
    expected = layer(X, X, positions=positions, key_mask=mask)
    same(layer(X, X, positions=positions.tolist(), key_mask=mask.tolist()), expected)
    same(layer(X, X, positions=[positions.tolist()] * 2), expected)


@pytest.mark.parametrize("policy", ["float16", "float32"])
def test_float16_as_the_default_of_keras(policy):
    before = keras.config.dtype_policy()
    keras.config.set_floatx("float16")
    keras.config.set_dtype_policy(policy)
    try:
        for name in KINDS:
            layer, inputs = make(name)
            found = layer(*inputs)
            assert keras.backend.standardize_dtype(found.dtype) == policy, name
            assert np.isfinite(ops.convert_to_numpy(found)).all(), name
    finally:
        keras.config.set_floatx("float32")
        keras.config.set_dtype_policy(before)


def cut(inputs, empty):
    """The inputs of a layer with empty axes, among B, T (of queries) and S (of keys)."""
    rows, queries, keys = (slice(0 if letter in empty else 7) for letter in "BTS")
    if isinstance(inputs[0], list):  # source and target ids
        source, target = inputs[0]
        return [[source[rows, keys], target[rows, queries]]]
    return [inputs[0][rows, queries], *(x[rows, keys] for x in inputs[1:])]


@pytest.mark.parametrize("name", [*KINDS, "MultiHeadAttention-rotary"])
def test_empty_axes_give_empty_axes(name, compiled):
    layer, inputs, answer = built(name)
    for empty in ("B", "T", "S", "TS", "BTS"):
        given = cut(inputs, empty)
        shape = (0 if "B" in empty else 2, 0 if "T" in empty else 5, *answer.shape[2:])
        output = layer(*given)
        assert tuple(output.shape) == shape, empty
        assert np.isfinite(ops.convert_to_numpy(output)).all(), empty
    if name in KINDS[:3]:  # a stack and its heads are among these
        for jit_compile in (False, True):
            assert tuple(compiled(layer, jit_compile=jit_compile)(*given).shape) == shape


@pytest.mark.parametrize("name", ["FeedForward", "TokenEmbedding", "EncoderBlock"])
def test_time_distributed_applies_to_each_step(name):
    layer, (x,) = make(name)
    entry = keras.Input((3, *x.shape[1:]), dtype=x.dtype.name)
    model = keras.Model(entry, keras.layers.TimeDistributed(layer)(entry))
    given = np.stack([x, x[:, ::-1], x], axis=1)
    output = ops.convert_to_numpy(model(given))
    assert output.shape == model.compute_output_shape(given.shape)
    for step in range(3):
        same(output[:, step], layer(given[:, step]))


def test_other_sizes_and_numbers_of_axes_than_the_built_ones_are_named():
    faults, cases = [], []
    for name in set(OF_FLOATS) - {"Residual"}:  # the layer around that one is a user's
        layer, inputs, _ = built(name)
        arguments = ["query", "key"] if "Attention" in name else ["x", "memory"]
        for i, (x, argument) in enumerate(zip(inputs, arguments, strict=False)):
            message = (
                f"`{argument}` must have {x.shape[-1]} features, the size that this layer was "
                f"built with. Received: {argument}.shape=(2, {x.shape[1]}, 3)"
            )
            others = [*inputs[:i], x[..., :3], *inputs[i + 1 :]]
            faults += refusals([(name, layer, others)], message)
        if name != "FeedForward":  # which takes any number of axes
            cases.append((name, make(name)[0], [inputs[0][..., None], *inputs[1:]]))
    for name in ("PositionalEncoding", "LearnedPositionalEncoding"):
        cases += [(name, make(name)[0], [keras.Input((4,) * axes)]) for axes in (1, 3)]
    faults += refusals(cases, "must have shape (B, ")
    assert not faults, "\n".join(faults)


def test_ids_outside_of_the_vocabulary_and_floats_are_named():
    outside, floats = [], []
    for name in OF_IDS:
        layer, inputs, _ = built(name)
        for wrong in (9, -1, 400):
            ids = np.where(IDS == 7, wrong, IDS)
            given = keras.tree.map_structure(lambda x, ids=ids: ids if x is IDS else x, inputs)
            outside.append((f"{name} {wrong}", layer, given))
        floats.append((name, layer, symbolic(inputs, dtype="float32")))
    faults = refusals(outside, "`ids` must be at least 0 and below vocab_size=9")
    faults += refusals(floats, "`ids` must be integers")
    assert not faults, "\n".join(faults)


def test_key_and_value_in_keras_order_do_not_pass_silently():
    layer, (query, key) = make("MultiHeadAttention")
    value = np.ones((2, 7, 3), np.float32)
    with pytest.warns(UserWarning, match=r"call order is \(query, key, value\)"):
        layer(query, key, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer(query, key, value=value)


@pytest.mark.parametrize("name", KINDS[:2])
def test_a_list_of_query_and_value_is_answered_by_the_call(name):
    layer, (query, key), _ = built(name)
    with pytest.raises(ValueError, match=r"layer\(query, key, value=None\).*a list of 2"):
        layer([query, key])
