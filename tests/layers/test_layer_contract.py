"""The contract of a Keras layer, tested for every public layer."""

import inspect
import json
import subprocess
import sys

import keras
import numpy as np
import pytest
from every_layer import IDS, INPUTS, KINDS, LAYERS, X, built, make, model_of, same_answers, symbolic
from keras import ops

import keras_attn

BACKEND = keras.backend.backend()
OF_PACKAGE = [label for label in LAYERS if label != "Residual"]  # its layer is in the tests alone
PLAIN = [label for label in LAYERS if "-" not in label]
# On TensorFlow `test_layer_exports.py` exports heads.
SOON_EXPORTED = ["AdditiveAttention", "MultiHeadAttention"][: 1 if BACKEND == "tensorflow" else 2]
SHORTER = {name: x[:1, :4] for name, x in INPUTS.items()}


@pytest.fixture(scope="module")
def model():
    return model_of(OF_PACKAGE, any_length=True, blockwise=False)


def test_every_public_layer_is_listed_and_registered_by_its_name():
    listed = {type(part) for name in LAYERS for part in built(name)[0]._flatten_layers()}
    public = {getattr(keras_attn, name) for name in keras_attn.__all__}
    bases = {keras_attn.RelativePosition, keras_attn.ScoredAttention}
    layers = {part for part in public if inspect.isclass(part)} - bases
    assert layers <= listed
    for layer in layers:
        assert keras.saving.get_registered_name(layer) == f"keras_attn>{layer.__name__}"


@pytest.mark.parametrize("name", LAYERS)
def test_config_holds_every_argument_and_makes_the_same_layer(name):
    layer, _ = make(name, name="mine")
    config = layer.get_config()
    for argument, value in LAYERS[name][0].items():
        assert config[argument] == value or callable(value)
    twin = type(layer).from_config(json.loads(json.dumps(config)))
    assert twin.get_config() == config
    assert twin.name == "mine"
    if "position" in config:
        del config["position"]
        default = "sinusoidal" if hasattr(layer, "vocab_size") else None
        assert type(layer).from_config(config).position == default


def test_activation_given_as_a_function_is_in_the_config_by_name():
    for name in ("FeedForward", "EncoderBlock", "DecoderBlock", "Encoder", "Decoder"):
        layer, _ = make(name, activation=keras.activations.gelu)
        assert layer.get_config()["activation"] == "gelu", name


def test_shape_and_dtype_are_known_without_a_call(model):
    faults = []
    for name in LAYERS:
        layer, inputs, answer = built(name)
        found = layer.compute_output_shape(*keras.tree.map_structure(np.shape, inputs))
        if tuple(found) != tuple(answer.shape):
            faults.append(f"{name}: compute_output_shape gives {found}, not {answer.shape}")
    for name, output in model.output.items():
        _, _, answer = built(name)
        dtype = keras.backend.standardize_dtype(answer.dtype)
        if output.shape != (None, None, *answer.shape[2:]) or output.dtype != dtype:
            faults.append(f"{name}: symbolic output {output}, but {answer.shape} {dtype}")
    assert not faults, "\n".join(faults)


def test_symbolic_call_that_asks_for_weights_knows_both_shapes():
    for name in (label for label in LAYERS if "Attention" in label):
        layer, inputs, answer = built(name)
        output, weights = layer(*symbolic(inputs), return_attention_scores=True)
        assert output.shape[1:] == answer.shape[1:], name
        heads = (layer.num_heads,) if hasattr(layer, "num_heads") else ()
        assert weights.shape[1:] == (*heads, 5, 7), name


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        *((name, "mixed_float16") for name in LAYERS),
        *((name, policy) for policy in ("mixed_bfloat16", "float16") for name in KINDS),
    ],
)
def test_other_precisions_give_about_the_same_answers_and_finite_gradients(
    name, policy, weight_gradients
):
    exact, inputs, expected = built(name)
    layer, _ = make(name, dtype=policy)
    layer(*inputs)
    layer.set_weights(exact.get_weights())
    output = layer(*inputs, training=False)
    assert keras.backend.standardize_dtype(output.dtype) == layer.compute_dtype
    if "position" not in LAYERS[name][0]:  # a scheme is made by the caller, with its own dtype
        assert {w.dtype for w in layer.trainable_variables} <= {layer.variable_dtype}
    single = ops.convert_to_numpy(ops.cast(output, "float32"))
    np.testing.assert_allclose(single, expected, atol=0.15, rtol=0.1)
    if BACKEND != "tensorflow" and name not in KINDS:
        return  # JAX would compile each operation of each layer

    def loss():
        return ops.mean(ops.cast(layer(*inputs, training=True), "float32") ** 2)

    for gradient in weight_gradients(layer, loss):
        assert gradient.dtype == layer.variable_dtype or "position" in LAYERS[name][0]
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("name", LAYERS)
def test_masks_of_embeddings_arrive_and_pass_through(name):
    layer, inputs, answer = built(name)
    expected_mask = (IDS != 0).tolist()
    if inputs[0] is not X:
        assert ops.convert_to_numpy(answer._keras_mask).tolist() == expected_mask
    if name == "Transformer":
        return  # its inputs are ids, which carry their padding themselves
    tables = [keras.layers.Embedding(9, x.shape[-1], mask_zero=True) for x in inputs]
    longer = np.array([[1, 2, 3, 4, 5, 6, 0], [8, 7, 0, 0, 0, 0, 0]])

    def answer_to_embedded():
        return layer(
            *(
                x if x is IDS else table(IDS if x.shape[1] == 5 else longer)
                for x, table in zip(inputs, tables, strict=True)
            )
        )

    output = answer_to_embedded()
    assert ops.convert_to_numpy(output._keras_mask).tolist() == expected_mask
    for table in tables:
        for rows in table.weights:  # none of a table that was not called
            rows.assign(np.where(np.arange(9)[:, None] == 0, np.nan, rows))
    other = ops.convert_to_numpy(answer_to_embedded())
    np.testing.assert_array_equal(other[IDS != 0], ops.convert_to_numpy(output)[IDS != 0])


def test_saved_layers_load_in_another_process_after_importing_the_package_alone(model, tmp_path):
    kinds = keras.Model(model.input, {name: model.output[name] for name in KINDS})
    kinds.save(tmp_path / "model.keras")
    answers = {name: ops.convert_to_numpy(y) for name, y in kinds(INPUTS).items()}
    np.savez(tmp_path / "data.npz", **INPUTS, **answers)
    code = (
        "import sys, keras, numpy as np, keras_attn\n"
        "model = keras.saving.load_model(sys.argv[1] + '/model.keras')\n"
        "data = dict(np.load(sys.argv[1] + '/data.npz'))\n"
        "for name, y in model({name: data[name] for name in model.input}).items():\n"
        "    found = keras.ops.convert_to_numpy(y)\n"
        "    np.testing.assert_allclose(found, data[name], atol=1e-5, err_msg=name)\n"
        "    print(name)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert sorted(result.stdout.split()) == sorted(KINDS), result.stderr[-2000:]


def test_a_model_in_mixed_precision_learns_and_ignores_padding():
    keras.utils.set_random_seed(1)
    ids, policy = keras.Input((None,), dtype="int32"), "mixed_float16"
    x = keras.layers.Embedding(9, 6, mask_zero=True)(ids)
    x = keras_attn.PositionalEncoding(dtype=policy)(x)
    x = keras_attn.EncoderBlock(6, 7, 3, dtype=policy)(x)
    x = keras_attn.MultiHeadAttention(6, 2, dtype=policy)(x, x)
    x = keras_attn.AdditiveAttention(4, dtype=policy)(x, x)
    model = keras.Model(ids, keras.layers.Dense(1)(keras.layers.GlobalAveragePooling1D()(x)))
    model.compile("adam", "mse", run_eagerly=True)
    losses = model.fit(IDS, np.ones(2), epochs=2, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    assert all(np.isfinite(weights).all() for weights in model.get_weights())
    longer = np.pad(IDS, ((0, 0), (0, 4)))
    np.testing.assert_allclose(model(longer), model(IDS), atol=1e-2)


@pytest.mark.parametrize(
    "labels", [SOON_EXPORTED, pytest.param(PLAIN, marks=pytest.mark.slow)], ids=["soon", "all"]
)
def test_exported_layers_answer_the_same_for_other_sizes(labels, tmp_path, export_and_reload):
    model = model_of(labels, any_length=True)
    reloaded = export_and_reload(model, tmp_path / "exported")
    for inputs in (INPUTS, SHORTER):
        same_answers(reloaded(inputs), model(inputs))
