"""Nothing changes by saving, loading, cloning, freezing, quantizing or pickling a layer."""

import copy
import json
import pickle

import keras
import numpy as np
import pytest
from every_layer import (
    IDS,
    INPUTS,
    KINDS,
    LAYERS,
    X,
    make,
    model_of,
    named,
    same_answers,
    same_weights,
    save_and_load,
)
from keras import ops

import keras_attn

BACKEND = keras.backend.backend()
on_tensorflow = pytest.mark.skipif(BACKEND != "tensorflow", reason="a way of TensorFlow")


def answers(model, inputs):
    return keras.tree.map_structure(ops.convert_to_numpy, model(inputs))


WAYS = {
    "loaded": save_and_load,
    "cloned": lambda model, path: keras.models.clone_model(model),
    "from JSON": lambda model, path: keras.models.model_from_json(model.to_json()),
    "copied": lambda model, path: copy.deepcopy(model),
    "pickled": lambda model, path: pickle.loads(pickle.dumps(model)),
}


def flags(model):
    return [(tuple(v.shape), v.trainable) for v in model.variables]


@keras.saving.register_keras_serializable(package="keras_attn_tests")
class EncoderWithHead(keras_attn.Encoder):
    """A subclass as users write it, with a sub-layer that Keras names."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._head = keras.layers.Dense(3)

    def build(self, ids_shape):
        super().build(ids_shape)
        self._head.build((*ids_shape, self.num_hiddens))

    def call(self, ids, training=None):
        return self._head(super().call(ids, training=training))

    def compute_output_shape(self, ids_shape):
        return (*ids_shape, 3)


@pytest.fixture(scope="module")
def partly_frozen():
    """Model with frozen layers and sub-layers, and with frozen weights in others."""
    model = model_of([*KINDS, "BilinearAttention"])
    encoder = EncoderWithHead(9, 1, 6, 7, 3, name="with head")
    model = keras.Model(model.input, {**model.output, "with head": encoder(model.input["ids"])})
    for layer in model.layers:
        parts = list(layer._flatten_layers(include_self=False))
        for part in [part for part in parts if part.trainable_weights][::3]:
            part.trainable = False
        for variable in layer.trainable_weights[::2]:
            variable.trainable = False
    encoder._head.trainable = encoder.block_0.trainable = False
    model.get_layer("BilinearAttention").trainable = False
    return model


# The ways are Keras's Python, the same on each backend.
@pytest.mark.parametrize("way", WAYS if BACKEND == "tensorflow" else ["loaded"])
def test_a_twin_has_the_same_answers_weights_and_frozen_parts(way, partly_frozen, tmp_path):
    assert {trainable for _, trainable in flags(partly_frozen)} == {True, False}
    twin = WAYS[way](partly_frozen, tmp_path)
    assert [layer.name for layer in twin.layers] == [layer.name for layer in partly_frozen.layers]
    for mine, others in zip(twin.layers, partly_frozen.layers, strict=True):
        assert flags(mine) == flags(others), mine.name
    assert twin.get_layer("BilinearAttention").trainable_weights == []
    if way in ("cloned", "from JSON"):  # its weights are new
        twin.set_weights(partly_frozen.get_weights())
    same_weights(twin, partly_frozen)
    same_answers(twin(INPUTS), partly_frozen(INPUTS), atol=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_layers_and_sublayers_frozen_before_they_are_built_are_frozen_after(name):
    made_frozen, inputs = make(name, trainable=False)
    frozen, _ = make(name)
    frozen.trainable = False
    for layer in (made_frozen, frozen):
        layer(*inputs)
        assert layer.weights and layer.trainable_weights == []
    layer, _ = make(name)
    for part in layer._flatten_layers(include_self=False):
        part.trainable = False
    twin = type(layer).from_config(layer.get_config())
    layer(*inputs), twin(*inputs)
    assert flags(twin) == flags(layer)


def test_fit_moves_no_frozen_weight_of_a_loaded_model(tmp_path):
    model, _ = make("Transformer")
    model([IDS, IDS])
    model.encoder.trainable = False
    loaded = save_and_load(model, tmp_path)
    before, decoder = loaded.encoder.get_weights(), loaded.decoder.get_weights()
    loaded.compile("sgd", "mse", run_eagerly=True)
    loaded.fit([IDS, IDS], np.ones((2, 5, 9)), verbose=0)
    same_weights(loaded.encoder, before)
    trained = zip(decoder, loaded.decoder.get_weights(), strict=True)
    assert any((old != new).any() for old, new in trained)


@keras.saving.register_keras_serializable(package="keras_attn_tests")
class Subclassed(keras.Model):
    """A model as users write it: parts made in `__init__`, called in `call`."""

    def __init__(self, labels, **kwargs):
        super().__init__(**kwargs)
        self.labels = labels
        self.parts = [make(label)[0] for label in labels]
        self.attention = keras_attn.DotProductAttention()
        self.block = keras_attn.EncoderBlock(6, 7, 3)

    def call(self, inputs):
        arrays, lengths, mask = inputs
        outputs = {
            label: part(*named(LAYERS[label][1], arrays))
            for label, part in zip(self.labels, self.parts, strict=True)
        }
        x = self.attention(arrays["x"], arrays["x"], valid_lens=lengths, attention_mask=mask)
        return {**outputs, "lengths": self.block(x, valid_lens=lengths)}

    def get_config(self):
        return {**super().get_config(), "labels": self.labels}


def test_a_subclassed_model_loads_all_its_weights(tmp_path):
    parts = ("Encoder", "Decoder")  # of the Transformer
    plain = [label for label in LAYERS if "-" not in label and label not in parts]
    model = Subclassed(plain if BACKEND == "tensorflow" else KINDS)
    inputs = (INPUTS, np.array([3, 5]), np.ones((2, 5, 5), bool))
    expected = answers(model, inputs)
    same_answers(answers(save_and_load(model, tmp_path), inputs), expected, atol=0)


quantizes = pytest.mark.usefixtures("no_earlier_garbage")
ignore_layers_without_kernels = pytest.mark.filterwarnings("ignore:Layer .* does not have a `quant")


@on_tensorflow
@quantizes
@ignore_layers_without_kernels
@pytest.mark.filterwarnings("ignore:Invalid quantization mode. Expected one of")
@pytest.mark.parametrize(
    ("mode", "tolerance"),
    [
        ("int8", 0.3),
        pytest.param("int4", 1.5, marks=pytest.mark.slow),
        pytest.param("float8", 0.5, marks=pytest.mark.slow),
    ],
)
def test_quantized_layers_and_their_weights_load_with_the_same_answers(mode, tolerance, tmp_path):
    model = model_of(KINDS[:3])
    exact = answers(model, INPUTS)
    model.quantize(mode)
    expected = answers(model, INPUTS)
    same_answers(expected, exact, atol=tolerance)
    loaded = save_and_load(model, tmp_path)
    same_answers(loaded(INPUTS), expected, atol=1e-6)
    modes = [layer.quantization_mode for layer in model._flatten_layers()]
    assert [layer.quantization_mode for layer in loaded._flatten_layers()] == modes
    assert mode in modes
    model.save_weights(tmp_path / "quantized.weights.h5")
    for variable in loaded.variables:
        variable.assign(ops.zeros_like(variable))
    loaded.load_weights(tmp_path / "quantized.weights.h5")
    same_answers(loaded(INPUTS), expected, atol=1e-6)


@on_tensorflow
@quantizes
@ignore_layers_without_kernels
@pytest.mark.parametrize("mode", ["gptq", pytest.param("awq", marks=pytest.mark.slow)])
def test_transformer_whose_encoder_is_calibrated_loads_with_the_same_answers(mode, tmp_path):
    keras.utils.set_random_seed(5)  # some drawings of the weights are changed much by 4 bits
    model, inputs = make("Transformer")
    exact = answers(model, inputs[0])
    make_config = {"gptq": keras.quantizers.GPTQConfig, "awq": keras.quantizers.AWQConfig}[mode]
    sizes = {"num_samples": 2, "sequence_length": 5, "group_size": -1}
    config = make_config(dataset=[IDS[:1], IDS[1:]], tokenizer=lambda text: text, **sizes)
    model.quantize(mode, config=config)
    expected = answers(model, inputs[0])
    np.testing.assert_allclose(expected, exact, atol=0.7)
    assert (expected != exact).any()
    modes = {layer.name: layer.quantization_mode for layer in model.encoder._flatten_layers()}
    assert modes["query"] == mode
    assert not any(layer.quantization_mode for layer in model.decoder._flatten_layers())
    np.testing.assert_array_equal(answers(save_and_load(model, tmp_path), inputs[0]), expected)


@on_tensorflow
def test_a_tensorflow_checkpoint_holds_every_weight(tmp_path):
    import tensorflow as tf

    layers = []
    for name in (*KINDS, "GaussianKernelAttention", "Decoder-t5"):
        layer, inputs = make(name)
        layer(*inputs)
        layers.append(layer)
    weights = [layer.get_weights() for layer in layers]
    checkpoint = tf.train.Checkpoint(layers=layers)
    path = checkpoint.write(str(tmp_path / "checkpoint"))
    for layer, own in zip(layers, weights, strict=True):
        layer.set_weights([w + 1 for w in own])
    checkpoint.restore(path)
    for layer, own in zip(layers, weights, strict=True):
        same_weights(layer, own)


@pytest.mark.filterwarnings("ignore:A total of")
def test_blocks_that_fit_are_loaded_beside_an_embedding_that_does_not(tmp_path):
    model, larger = keras_attn.Encoder(9, 1, 6, 7, 3), keras_attn.Encoder(12, 1, 6, 7, 3)
    for layer in (model, larger):
        layer(IDS)
    wrap = [keras.Sequential([keras.Input((5,), dtype="int32"), e]) for e in (model, larger)]
    wrap[0].save_weights(tmp_path / "one.weights.h5")
    wrap[1].load_weights(tmp_path / "one.weights.h5", skip_mismatch=True)
    same_weights(larger.block_0, model.block_0)


def test_numpy_numbers_are_taken():
    kinds = {bool: np.bool_, int: np.int16, float: np.float32}
    cases = [(label.split("-")[0], arguments) for label, (arguments, _) in LAYERS.items()]
    cases += [("T5RelativeBias", {"num_buckets": 4, "max_distance": 9})]
    cases += [("RotaryEmbedding", {"base": 100.0})]
    for class_name, arguments in cases:
        given = {name: kinds[type(x)](x) for name, x in arguments.items() if type(x) in kinds}
        if given:
            layer = getattr(keras_attn, class_name)(**given)
            config = json.loads(json.dumps(layer.get_config()))
            assert layer.from_config(config).get_config() == config
            for name, x in given.items():
                assert config[name] == x and type(config[name]) is type(x.item()), name


def test_one_position_object_serves_several_layers_with_weights_of_their_own():
    shaw, alibi = keras_attn.ShawRelativePosition(2), keras_attn.AlibiBias()
    x = entry = keras.Input((5, 6))
    for heads in (2, 3):
        x = keras_attn.MultiHeadAttention(6, heads, position=shaw)(x, x)
        layer = keras_attn.MultiHeadAttention(6, heads, position=alibi)
        alone = keras_attn.MultiHeadAttention(6, heads, position=keras_attn.AlibiBias())
        layer(X, X), alone(X, X)
        alone.set_weights(layer.get_weights())
        np.testing.assert_array_equal(layer(X, X), alone(X, X))
    model = keras.Model(entry, x)
    tables = [v.path for v in model.weights if "shaw" in v.path]
    assert len(tables) == len(set(tables)) == 4  # of keys and of values
    assert len(keras.models.clone_model(model).weights) == len(model.weights)
    learned = keras_attn.LearnedPositionalEncoding(7)
    stack = keras_attn.Encoder(9, 1, 6, 7, 3, position=learned)
    tables = []
    for each in (stack, keras_attn.Encoder.from_config(stack.get_config())):
        each(IDS)
        tables += [v for v in each.weights if v.path.endswith("table")]
    assert len(tables) == 2 and tables[0] is not tables[1]
