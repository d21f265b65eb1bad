"""The contract of a Keras layer, tested for every public layer."""

import gc
import inspect
import json
import subprocess
import sys

import keras
import numpy as np
import pytest
from every_layer import (
    IDS,
    INPUTS,
    LAYERS,
    X,
    every_layer,
    make,
    model_of_all_layers,
    named,
    symbolic,
)
from keras import ops

import keras_attn


def test_every_public_layer_is_listed():
    listed = set()
    for name in LAYERS:
        layer, inputs = make(name)
        layer(*inputs)
        listed |= {type(part) for part in layer._flatten_layers()}
    public = [getattr(keras_attn, name) for name in keras_attn.__all__]
    layers = {part for part in public if inspect.isclass(part)}
    assert layers <= listed


def assert_same_answers(found, expected, **tolerance):
    assert set(found) == set(expected)
    for label in expected:
        np.testing.assert_allclose(
            found[label], expected[label], err_msg=label, **{"atol": 1e-5, **tolerance}
        )


@every_layer
def test_config_holds_every_argument_and_makes_the_same_layer(name):
    layer, _ = make(name, name="mine")
    config = layer.get_config()
    for argument, value in LAYERS[name][0].items():
        assert config[argument] == value or callable(value)
    json.dumps(config)
    twin = type(layer).from_config(config)
    assert twin.get_config() == config
    assert twin.name == "mine"


@pytest.mark.parametrize(
    "name", ["FeedForward", "EncoderBlock", "DecoderBlock", "Encoder", "Decoder"]
)
def test_activation_given_as_a_function_is_in_the_config_by_name(name):
    arguments, _ = LAYERS[name]
    layer = getattr(keras_attn, name)(**{**arguments, "activation": keras.activations.gelu})
    assert layer.get_config()["activation"] == "gelu"


@every_layer
def test_symbolic_call_knows_shape_and_dtype(name):
    layer, inputs = make(name)
    expected = layer(*inputs)
    output = layer(*symbolic(inputs, any_length=True))
    assert output.shape == (None, None, *expected.shape[2:])
    assert output.dtype == keras.backend.standardize_dtype(expected.dtype)


@pytest.mark.parametrize("name", [label for label in LAYERS if "Attention" in label])
def test_symbolic_call_that_asks_for_weights_knows_both_shapes(name):
    layer, inputs = make(name)
    output, weights = layer(*symbolic(inputs), return_attention_scores=True)
    concrete = layer(*inputs, return_attention_scores=True)
    assert output.shape[1:] == concrete[0].shape[1:]
    assert weights.shape[1:] == concrete[1].shape[1:]


@every_layer
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float16"])
def test_computes_in_the_dtype_of_its_policy_without_nan(name, policy):
    keras.utils.set_random_seed(1)  # the difference depends on the size of the weights
    layer, inputs = make(name, dtype=policy)
    exact, _ = make(name)
    exact(*inputs), layer(*inputs)
    layer.set_weights(exact.get_weights())
    output = layer(*inputs, training=False)
    assert keras.backend.standardize_dtype(output.dtype) == layer.compute_dtype
    if "position" not in LAYERS[name][0]:  # a scheme is made by the caller, with its own dtype
        assert {w.dtype for w in layer.trainable_variables} <= {layer.variable_dtype}
    single = ops.convert_to_numpy(ops.cast(output, "float32"))
    assert np.isfinite(single).all()
    np.testing.assert_allclose(single, exact(*inputs, training=False), atol=0.15, rtol=0.1)


@every_layer
def test_mask_passes_through(name):
    layer, inputs = make(name)
    if inputs[0] is not X:
        output = layer(*inputs)
    else:
        masked = keras.layers.Embedding(9, 6, mask_zero=True)(IDS)
        output = layer(masked, *inputs[1:])
    assert ops.convert_to_numpy(output._keras_mask).tolist() == (IDS != 0).tolist()


def test_saved_layers_load_in_another_process_after_importing_the_package_alone(tmp_path):
    names = [name for name in LAYERS if name != "Residual"]  # its layer is in the tests alone
    for name in names:
        layer, inputs = make(name)
        entries = symbolic(inputs)
        model = keras.Model(entries, layer(*entries))
        model.save(tmp_path / f"{name}.keras")
        arrays = {f"x{i}": x for i, x in enumerate(keras.tree.flatten(inputs))}
        y = ops.convert_to_numpy(model(inputs))
        np.savez(tmp_path / f"{name}.npz", y=y, **arrays)
    code = (
        "import sys, pathlib, keras, numpy as np, keras_attn\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).glob('*.keras')):\n"
        "    data = dict(np.load(path.with_suffix('.npz'))); y = data.pop('y')\n"
        "    inputs = [data[f'x{i}'] for i in range(len(data))]\n"
        "    model = keras.saving.load_model(path)\n"
        "    inputs = keras.tree.pack_sequence_as(model.input, inputs)\n"
        "    y2 = keras.ops.convert_to_numpy(model(inputs))\n"
        "    np.testing.assert_allclose(y2, y, atol=1e-5)\n"
        "    print(path.stem)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True
    )
    assert sorted(result.stdout.split()) == sorted(names), result.stderr[-2000:]


def test_saved_transformer_loads_with_the_same_answers(tmp_path):
    model = keras_attn.Transformer.from_sizes(
        9, 11, 1, 1, num_hiddens=6, ffn_num_hiddens=7, num_heads=3
    )
    logits = model((IDS, IDS))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded((IDS, IDS)), logits, atol=1e-6)


def test_layers_work_inside_an_ordinary_functional_model():
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(9, 6, mask_zero=True)(ids)
    x = keras_attn.PositionalEncoding()(x)
    x = keras_attn.EncoderBlock(6, 7, 3)(x)
    x = keras_attn.MultiHeadAttention(6, 2)(x, x)
    x = keras_attn.AdditiveAttention(4)(x, x)
    model = keras.Model(ids, keras.layers.Dense(1)(keras.layers.GlobalAveragePooling1D()(x)))
    model.compile("sgd", "mse")
    model.fit(IDS, np.ones(2), verbose=0)
    longer = np.pad(IDS, ((0, 0), (0, 4)))
    np.testing.assert_allclose(
        model.predict(longer, verbose=0), model.predict(IDS, verbose=0), atol=1e-5
    )


def test_functional_model_takes_any_batch_and_length():
    model = model_of_all_layers()
    layers = {layer.name: layer for layer in model.layers}
    random = np.random.default_rng(10)
    for batch_size, length, num_keys in ((2, 5, 7), (3, 4, 2)):
        arrays = {
            "x": random.normal(size=(batch_size, length, 6)).astype(np.float32),
            "memory": random.normal(size=(batch_size, num_keys, 4)).astype(np.float32),
            "same_size": random.normal(size=(batch_size, num_keys, 6)).astype(np.float32),
            "ids": random.integers(0, 9, (batch_size, length)).astype(np.int32),
        }
        alone = {label: layers[label](*named(LAYERS[label][1], arrays)) for label in LAYERS}
        assert_same_answers(model(arrays), alone)


def fit(jit_compile, weights=None):
    """Weights of all layers before and after two steps of descent."""
    model = model_of_all_layers(variants=False, dropout=0.0)
    model.set_weights(weights or model.get_weights())
    before = model.get_weights()
    model.compile(
        keras.optimizers.SGD(0.1), "mse", jit_compile=jit_compile, run_eagerly=not jit_compile
    )
    targets = {label: np.ones(y.shape) for label, y in model(INPUTS).items()}
    model.fit(INPUTS, targets, epochs=2, verbose=0)
    return before, model.get_weights()


@pytest.mark.slow
def test_fit_with_the_compiler_of_the_backend_is_fit_without(compiles):
    before, after = fit(jit_compile=compiles)
    _, expected = fit(jit_compile=False, weights=before)
    for old, new, other in zip(before, after, expected, strict=True):
        np.testing.assert_allclose(new, other, atol=1e-4)
        assert (new != old).any()


@every_layer
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_gradients_in_mixed_precision_are_finite_and_single(name, policy, weight_gradients):
    layer, inputs = make(name, dtype=policy)
    layer(*inputs)

    def loss():
        return ops.mean(ops.cast(layer(*inputs, training=True), "float32") ** 2)

    for gradient in weight_gradients(layer, loss):
        assert gradient.dtype == np.float32
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_fit_in_mixed_precision_learns(policy):
    model = model_of_all_layers(variants=False, dtype=policy, dropout=0.0)
    model.compile("adam", "mse", run_eagerly=True)
    targets = {label: np.zeros(y.shape) for label, y in model(INPUTS).items()}
    losses = model.fit(INPUTS, targets, epochs=2, verbose=0).history["loss"]
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0]
    assert all(np.isfinite(weights).all() for weights in model.get_weights())


@every_layer
def test_masks_of_embeddings_arrive_by_themselves(name):
    layer, inputs = make(name)
    embedded, tables, seen = [], [], []
    if name == "Transformer":
        pytest.skip("its inputs are ids, which carry their padding themselves")
    for x in inputs:
        ids = IDS if x.shape[1] == 5 else np.array([[1, 2, 3, 4, 5, 6, 0], [8, 7, 0, 0, 0, 0, 0]])
        if x is IDS:
            embedded.append(lambda: IDS)
        else:
            table = keras.layers.Embedding(9, x.shape[2], mask_zero=True)
            embedded.append(lambda table=table, ids=ids: table(ids))
            table(ids)
            tables.append(table)
        seen.append(ids != 0)
    expected = ops.convert_to_numpy(layer(*[make_input() for make_input in embedded]))
    for table in tables:
        rows = table.get_weights()[0]
        rows[0] = np.nan
        table.set_weights([rows])
    output = ops.convert_to_numpy(layer(*[make_input() for make_input in embedded]))
    np.testing.assert_array_equal(output[seen[0]], expected[seen[0]])


def test_exported_layers_answer_the_same_for_other_sizes(tmp_path, export_and_reload):
    model = model_of_all_layers(variants=False)
    reloaded = export_and_reload(model, tmp_path / "exported")
    assert_same_answers(reloaded(INPUTS), model(INPUTS))
    shorter = {name: x[:1, :4] for name, x in INPUTS.items()}
    assert_same_answers(reloaded(shorter), model(shorter))


@pytest.mark.filterwarnings("ignore:Layer .* does not have a `quantize` method")
def test_quantized_weights_load_into_a_quantized_twin(tmp_path):
    model, twin = (model_of_all_layers(variants=False) for _ in range(2))
    exact = model(INPUTS)
    gc.freeze()  # Keras collects garbage for each weight; what is here already is none
    model.quantize("int8"), twin.quantize("int8")
    gc.unfreeze()
    answers = model(INPUTS)
    assert_same_answers(answers, exact, atol=0.3)
    model.save_weights(tmp_path / "int8.weights.h5")
    twin.load_weights(tmp_path / "int8.weights.h5")
    assert_same_answers(twin(INPUTS), answers, atol=1e-6)
