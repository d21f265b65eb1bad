"""Every layer answers or refuses whatever can be fed to it, under every way of calling."""

import subprocess
import sys
import warnings

import keras
import numpy as np
import pytest
from every_layer import (
    IDS,
    INPUTS,
    LAYERS,
    MEMORY,
    SAME_SIZE,
    X,
    every_layer,
    make,
    many_layers,
    model_of_all_layers,
    symbolic,
)
from keras import ops

import keras_attn
from keras_attn import any_size, blockwise

BACKEND = keras.backend.backend()
ATTENTION = [label for label in LAYERS if "Attention" in label]
OF_FLOATS = [label for label, (_, inputs) in LAYERS.items() if inputs[0] is X]
of_attention = pytest.mark.parametrize("name", ATTENTION)


def same(found, expected, **tolerance):
    found, expected = map(ops.convert_to_numpy, (found, expected))
    np.testing.assert_allclose(found, expected, **{"atol": 1e-5, **tolerance})


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


@pytest.mark.skipif(BACKEND != "tensorflow", reason="a tape of TensorFlow")
@pytest.mark.parametrize("name", [label for label in OF_FLOATS if "MultiHead" in label])
def test_persistent_tapes_take_lengths_unknown_when_traced(name):
    import tensorflow as tf

    layer, inputs = make(name, dropout=0.0)
    tensors = [tf.constant(x) for x in inputs]
    layer(*tensors)
    signature = [tf.TensorSpec((None, None, x.shape[-1])) for x in inputs]
    found = []
    for call in (layer, tf.function(layer, input_signature=signature)):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(tensors)
            output = call(*tensors)
        found.append(tape.gradient(output, tensors))
    for mine, others in zip(*found, strict=True):
        same(mine, others)


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


@pytest.mark.parametrize("name", [label for label in LAYERS if "dropout" in LAYERS[label][0]])
def test_equal_seeds_drop_the_same_and_others_do_not(name):
    if name == "Residual":
        pytest.skip("the layer around it is a user's")

    def output(seed):
        keras.utils.set_random_seed(1)  # for the weights
        layer, inputs = make(name, seed=seed, dropout=0.5)
        return ops.convert_to_numpy(layer(*inputs, training=True))

    np.testing.assert_array_equal(output(3), output(3))
    assert (output(3) != output(4)).any()


def test_sublayers_of_one_seed_drop_other_places():
    block = keras_attn.EncoderBlock(6, 7, 3, dropout=0.5, seed=4)
    block(X)
    dropouts = [
        layer.seed for layer in block._flatten_layers() if isinstance(layer, keras.layers.Dropout)
    ]
    assert len(set(dropouts)) == len(dropouts) > 2


SETTINGS = {
    "kernel_initializer": keras.initializers.Constant(0.25),
    "kernel_regularizer": keras.regularizers.L2(0.5),
    "kernel_constraint": keras.constraints.MaxNorm(2.0),
    "bias_initializer": keras.initializers.Constant(0.5),
    "bias_regularizer": keras.regularizers.L1(0.25),
    "bias_constraint": keras.constraints.NonNeg(),
}


@pytest.mark.parametrize(
    "name", [label for label in LAYERS if hasattr(make(label)[0], "kernel_initializer")]
)
def test_settings_reach_every_kernel_and_bias_through_blocks_and_stacks(name):
    layer, inputs = make(name, **SETTINGS)
    twin = type(layer).from_config(layer.get_config())
    for each in (layer, twin):
        each(*inputs)
        for part in each._flatten_layers():
            if not isinstance(part, keras.layers.Dense):
                continue
            assert (ops.convert_to_numpy(part.kernel) == 0.25).all()
            assert part.kernel.regularizer.l2 == 0.5
            assert part.kernel.constraint.max_value == 2.0
            if part.bias is not None:
                assert (ops.convert_to_numpy(part.bias) == 0.5).all()
                assert part.bias.regularizer.l1 == 0.25
                assert isinstance(part.bias.constraint, keras.constraints.NonNeg)
        assert each.losses


TABLES = {
    "embeddings_initializer": keras.initializers.Constant(0.25),
    "embeddings_regularizer": keras.regularizers.L2(0.5),
    "embeddings_constraint": keras.constraints.MaxNorm(2.0),
}


@pytest.mark.parametrize("name", ["LearnedPositionalEncoding", "TokenEmbedding", "Encoder"])
def test_settings_reach_every_table(name):
    layer, inputs = make(name, **TABLES)
    twin = type(layer).from_config(layer.get_config())
    for each in (layer, twin):
        each(*inputs)
        tables = [v for v in each.weights if v.path.split("/")[-1] in ("table", "embeddings")]
        assert tables
        for table in tables:
            assert (ops.convert_to_numpy(table) == 0.25).all()
            assert table.regularizer.l2 == 0.5
            assert table.constraint.max_value == 2.0


def test_training_under_the_compiler_takes_lengths_unknown_when_traced(compiles):
    model = model_of_all_layers(dropout=0.0)
    model.compile("sgd", "mse", jit_compile=compiles)
    weights = model.get_weights()
    for length in (5, 3):
        arrays = {name: x[:, :length] for name, x in INPUTS.items()}
        targets = {label: np.ones(y.shape) for label, y in model(arrays).items()}
        losses = model.fit(arrays, targets, verbose=0).history["loss"]
        assert np.isfinite(losses).all()
    for v in model.weights:
        assert np.isfinite(ops.convert_to_numpy(v)).all()
    assert any((v != old).any() for v, old in zip(model.get_weights(), weights, strict=True))


@many_layers
def test_rematerialization_changes_no_answer_and_no_gradient(name, weight_gradients):
    plain, inputs = make(name)
    plain(*inputs)
    with keras.RematScope(mode="full"):
        layer, _ = make(name)
    layer(*inputs)
    layer.set_weights(plain.get_weights())
    same(layer(*inputs), plain(*inputs))

    def gradients(each):
        return weight_gradients(each, lambda: ops.mean(each(*inputs) ** 2))

    with keras.RematScope(mode="full"):
        found = gradients(layer)
    for mine, others in zip(found, gradients(plain), strict=True):
        same(mine, others)


@pytest.mark.skipif(BACKEND != "tensorflow", reason="a strategy of TensorFlow")
def test_fit_over_two_replicas_is_fit_on_one():
    code = """
import numpy as np, keras, tensorflow as tf
import keras_attn
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
ids = np.random.default_rng(0).integers(1, 9, (4, 5))

def fitted(strategy):
    keras.utils.set_random_seed(0)
    with strategy.scope():
        sizes = dict(num_hiddens=6, ffn_num_hiddens=7, num_heads=3)
        model = keras_attn.Transformer.from_sizes(9, 9, 1, 1, **sizes)
        model((ids, ids))
        model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit((ids, ids), np.ones((4, 5, 9)), batch_size=4, epochs=2, shuffle=False, verbose=0)
    return model.get_weights()

one = fitted(tf.distribute.get_strategy())
two = fitted(tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]))
print(max(abs(a - b).max() for a, b in zip(one, two)))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert float(result.stdout.split()[-1]) < 1e-5, result.stderr[-2000:]


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
