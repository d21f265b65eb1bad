"""What every layer owes Keras, checked the same way for all of them."""

import json
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import ops

import keras_attn

RANDOM = np.random.default_rng(9)
X = RANDOM.normal(size=(2, 5, 6)).astype(np.float32)
MEMORY = RANDOM.normal(size=(2, 7, 4)).astype(np.float32)
SAME_SIZE = RANDOM.normal(size=(2, 7, 6)).astype(np.float32)
IDS = np.array([[3, 5, 7, 0, 0], [2, 4, 6, 8, 1]])
SIZES = {"num_hiddens": 6, "ffn_num_hiddens": 7, "num_heads": 3, "dropout": 0.1}

# Each layer with arguments that differ from its defaults, and inputs for it.
LAYERS = {
    "AdditiveAttention": ({"num_hiddens": 8, "dropout": 0.1}, [X, MEMORY]),
    "BilinearAttention": ({"dropout": 0.1}, [X, MEMORY]),
    "DotProductAttention": ({"dropout": 0.1, "scale": False}, [X, SAME_SIZE]),
    "GaussianKernelAttention": (
        {"bandwidth": 1.5, "trainable": True, "dropout": 0.1},
        [X, SAME_SIZE],
    ),
    "MultiHeadAttention": (
        {"num_hiddens": 6, "num_heads": 3, "dropout": 0.1, "use_bias": True},
        [X, MEMORY],
    ),
    "PositionalEncoding": ({"max_len": 3, "dropout": 0.1}, [X]),
    "LearnedPositionalEncoding": ({"max_len": 11, "dropout": 0.1}, [X]),
    "FeedForward": (
        {"ffn_num_hiddens": 7, "activation": "gelu", "dropout": 0.1, "gated": True},
        [X],
    ),
    "TokenEmbedding": ({"vocab_size": 9, "num_hiddens": 6, "dropout": 0.1}, [IDS]),
    "EncoderBlock": ({**SIZES, "norm_first": False, "activation": "gelu"}, [X]),
    "DecoderBlock": ({**SIZES, "norm_first": False, "use_bias": True}, [X, MEMORY]),
    "Encoder": ({"vocab_size": 9, "num_layers": 2, **SIZES, "norm_first": False}, [IDS]),
    "Decoder": ({"vocab_size": 9, "num_layers": 2, **SIZES, "use_bias": True}, [IDS, MEMORY]),
}
every_layer = pytest.mark.parametrize("name", LAYERS)


def make(layer_name, **kwargs):
    arguments, inputs = LAYERS[layer_name]
    return getattr(keras_attn, layer_name)(**arguments, **kwargs), inputs


def symbolic(inputs):
    return [keras.Input(x.shape[1:], dtype="int32" if x is IDS else "float32") for x in inputs]


@every_layer
def test_config_holds_every_argument_and_makes_the_same_layer(name):
    layer, _ = make(name, name="mine")
    config = layer.get_config()
    for argument, value in LAYERS[name][0].items():
        assert config[argument] == value
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
    output = layer(*[keras.Input((None, *x.shape[2:]), dtype=x.dtype) for x in inputs])
    assert output.shape == (None, None, *expected.shape[2:])
    assert output.dtype == keras.backend.standardize_dtype(expected.dtype)


@pytest.mark.parametrize("name", ["AdditiveAttention", "DotProductAttention", "MultiHeadAttention"])
def test_symbolic_call_that_asks_for_weights_knows_both_shapes(name):
    layer, inputs = make(name)
    output, weights = layer(*symbolic(inputs), return_attention_scores=True)
    concrete = layer(*inputs, return_attention_scores=True)
    assert output.shape[1:] == concrete[0].shape[1:]
    assert weights.shape[1:] == concrete[1].shape[1:]


@every_layer
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float16"])
def test_computes_in_the_dtype_of_its_policy_without_nan(name, policy):
    layer, inputs = make(name, dtype=policy)
    exact, _ = make(name)
    exact(*inputs), layer(*inputs)
    layer.set_weights(exact.get_weights())
    output = layer(*inputs, training=False)
    assert keras.backend.standardize_dtype(output.dtype) == layer.compute_dtype
    assert {w.dtype for w in layer.trainable_variables} <= {layer.variable_dtype}
    single = ops.convert_to_numpy(ops.cast(output, "float32"))
    assert np.isfinite(single).all()
    np.testing.assert_allclose(single, exact(*inputs, training=False), atol=0.15, rtol=0.1)


@every_layer
def test_mask_passes_through(name):
    layer, inputs = make(name)
    if inputs[0] is IDS:
        output = layer(*inputs)
    else:
        masked = keras.layers.Embedding(9, 6, mask_zero=True)(IDS)
        output = layer(masked, *inputs[1:])
    assert ops.convert_to_numpy(output._keras_mask).tolist() == (IDS != 0).tolist()


def test_saved_layers_load_in_another_process_after_importing_the_package_alone(tmp_path):
    for name in LAYERS:
        layer, inputs = make(name)
        entries = symbolic(inputs)
        model = keras.Model(entries, layer(*entries))
        model.save(tmp_path / f"{name}.keras")
        arrays = {f"x{i}": x for i, x in enumerate(inputs)}
        np.savez(tmp_path / f"{name}.npz", y=model.predict(inputs, verbose=0), **arrays)
    code = (
        "import sys, pathlib, keras, numpy as np, keras_attn\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).glob('*.keras')):\n"
        "    data = dict(np.load(path.with_suffix('.npz'))); y = data.pop('y')\n"
        "    inputs = [data[f'x{i}'] for i in range(len(data))]\n"
        "    model = keras.saving.load_model(path)\n"
        "    np.testing.assert_allclose(model.predict(inputs, verbose=0), y, atol=1e-5)\n"
        "    print(path.stem)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True
    )
    assert result.stdout.split() == sorted(LAYERS), result.stderr[-2000:]


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
