"""Nothing changes by saving, loading, cloning, freezing, quantizing or pickling a layer."""

import copy
import gc
import json
import pickle

import keras
import numpy as np
import pytest
from every_layer import IDS, LAYERS, SIZES, X, every_layer, make, many_layers, model_of
from keras import ops

import keras_attn

BACKEND = keras.backend.backend()
on_tensorflow = pytest.mark.skipif(BACKEND != "tensorflow", reason="a way of TensorFlow")


def answers(model, inputs):
    output = model(inputs)
    return ops.convert_to_numpy(output)


def save_and_load(model, path):
    model.save(path / "model.keras")
    return keras.saving.load_model(path / "model.keras")


WAYS = {
    "loaded": save_and_load,
    "cloned": lambda model, path: keras.models.clone_model(model),
    "from JSON": lambda model, path: keras.models.model_from_json(model.to_json()),
    "pickled": lambda model, path: pickle.loads(pickle.dumps(model)),
    "copied": lambda model, path: copy.deepcopy(model),
}
# The ways are Keras's Python, the same on each backend.
ways = WAYS if BACKEND == "tensorflow" else {"loaded": save_and_load}


def flags(model):
    return [(tuple(v.shape), v.trainable) for v in model.variables]


@many_layers
def test_a_twin_has_the_same_answers_and_weights(name, tmp_path):
    model, inputs = model_of(name)
    expected = answers(model, inputs)
    for way, twin_of in ways.items():
        twin = twin_of(model, tmp_path)
        twin.set_weights(model.get_weights())  # a clone starts with weights of its own
        np.testing.assert_allclose(answers(twin, inputs), expected, atol=1e-6, err_msg=way)
        assert flags(twin) == flags(model), way


@every_layer
def test_a_layer_made_frozen_has_no_weights_to_train(name):
    if name in ("Residual", "GaussianKernelAttention"):
        pytest.skip("the test's own layer; a layer that is listed with trainable=True")
    model, _ = model_of(name, trainable=False)
    assert model.trainable_weights == []
    assert keras.models.clone_model(model).trainable_weights == []


@many_layers
def test_frozen_sublayers_stay_frozen(name, tmp_path):
    if name == "Residual":
        pytest.skip("a layer of this test's own, whose configuration is its own")
    model, _ = model_of(name)
    layer = model.layers[-1]
    parts = [part for part in layer._flatten_layers(include_self=False) if part.trainable_weights]
    for part in parts[::2]:
        part.trainable = False
    expected = flags(model)
    for way, twin_of in ways.items():
        assert flags(twin_of(model, tmp_path)) == expected, way
    layer.trainable = False
    for way, twin_of in ways.items():
        assert twin_of(model, tmp_path).trainable_weights == [], way


@many_layers
def test_a_single_frozen_weight_stays_frozen(name, tmp_path):
    if name == "Residual":
        pytest.skip("a layer of this test's own, whose configuration is its own")
    model, _ = model_of(name)
    for variable in model.trainable_weights[::2]:
        variable.trainable = False
    for way, twin_of in ways.items():
        assert flags(twin_of(model, tmp_path)) == flags(model), way


@every_layer
def test_sublayers_frozen_before_they_are_built_are_frozen_in_a_twin(name):
    if name == "Residual":
        pytest.skip("a layer of this test's own, whose configuration is its own")
    layer, inputs = make(name)
    for part in layer._flatten_layers(include_self=False):
        part.trainable = False
    twin = type(layer).from_config(layer.get_config())
    layer(*inputs), twin(*inputs)
    assert flags(twin) == flags(layer)


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


def test_frozen_sublayers_of_a_subclass_stay_frozen(tmp_path):
    encoder = EncoderWithHead(9, 1, 6, 7, 3)
    entry = keras.Input((None,), dtype="int32")
    model = keras.Model(entry, encoder(entry))
    encoder._head.trainable = encoder.block_0.trainable = False
    for way, twin_of in ways.items():
        twin = twin_of(model, tmp_path)
        twin.set_weights(model.get_weights())
        np.testing.assert_allclose(answers(twin, IDS), answers(model, IDS), atol=1e-6)
        assert flags(twin) == flags(model), way


@every_layer
def test_arguments_that_a_configuration_lacks_have_their_defaults(name):
    layer, _ = make(name)
    if not hasattr(layer, "position"):
        pytest.skip("no layer with an argument that `from_config` reads")
    config = layer.get_config()
    del config["position"]
    default = "sinusoidal" if hasattr(layer, "vocab_size") else None
    assert type(layer).from_config(config).position == default


def test_fit_moves_no_frozen_weight_of_a_loaded_model(tmp_path):
    model, inputs = model_of("Transformer")
    transformer = model.layers[-1]
    transformer.encoder.trainable = False
    loaded = save_and_load(model, tmp_path)
    before = [ops.convert_to_numpy(v) for v in loaded.layers[-1].encoder.weights]
    loaded.compile("sgd", "mse")
    loaded.fit(inputs, np.ones((2, 5, 9)), verbose=0)
    for old, new in zip(before, loaded.layers[-1].encoder.weights, strict=True):
        np.testing.assert_array_equal(old, new)


@keras.saving.register_keras_serializable(package="keras_attn_tests")
class Subclassed(keras.Model):
    """A model as users write it: parts made in `__init__`, called in `call`."""

    def __init__(self, label, **kwargs):
        super().__init__(**kwargs)
        self.label = label
        self.part, _ = make(label)
        self.head = keras.layers.Dense(3)

    def call(self, inputs):
        parts = inputs if isinstance(inputs, list | tuple) else [inputs]
        if self.label == "Transformer":
            parts = [parts]
        return self.head(self.part(*parts))

    def get_config(self):
        return {**super().get_config(), "label": self.label}


@many_layers
def test_a_subclassed_model_loads_all_its_weights(name, tmp_path):
    inputs = make(name)[1]
    inputs = inputs[0] if len(inputs) == 1 else inputs
    model = Subclassed(name)
    expected = answers(model, inputs)
    np.testing.assert_array_equal(answers(save_and_load(model, tmp_path), inputs), expected)


@keras.saving.register_keras_serializable(package="keras_attn_tests")
class WithLengths(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.attention = keras_attn.DotProductAttention()
        self.block = keras_attn.EncoderBlock(6, 7, 3)
        self.head = keras.layers.Dense(3)

    def call(self, inputs):
        x, lengths, mask = inputs
        x = self.attention(x, x, valid_lens=lengths, attention_mask=mask)
        return self.head(self.block(x, valid_lens=lengths))


def test_a_subclassed_model_over_lengths_and_masks_loads_all_its_weights(tmp_path):
    model, inputs = WithLengths(), (X, np.array([3, 5]), np.ones((2, 5, 5), bool))
    expected = answers(model, inputs)
    np.testing.assert_array_equal(answers(save_and_load(model, tmp_path), inputs), expected)


@on_tensorflow
@pytest.mark.filterwarnings("ignore:Layer .* does not have a `quantize` method")
@pytest.mark.parametrize(
    "mode", ["int8", *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("int4", "float8"))]
)
def test_quantized_layers_load_with_the_same_answers(mode, tmp_path):
    gc.freeze()  # Keras collects garbage for each weight; what is here already is none
    for name in LAYERS:
        if name == "Residual":  # the layer around it is a user's
            continue
        model, inputs = model_of(name)
        model.quantize(mode)
        expected = answers(model, inputs)
        loaded = save_and_load(model, tmp_path)
        np.testing.assert_allclose(answers(loaded, inputs), expected, atol=1e-6, err_msg=name)
        modes = [layer.quantization_mode for layer in loaded._flatten_layers()]
        assert modes == [layer.quantization_mode for layer in model._flatten_layers()]
    gc.unfreeze()


@on_tensorflow
@pytest.mark.filterwarnings("ignore:Layer .* does not have a `quantize` method")
@pytest.mark.parametrize("mode", ["gptq", "awq"])
def test_transformer_whose_encoder_is_calibrated_loads_with_the_same_answers(mode, tmp_path):
    keras.utils.set_random_seed(5)  # some drawings of the weights are changed much by 4 bits
    model, inputs = make("Transformer")
    exact = answers(model, inputs[0])
    config = {"gptq": keras.quantizers.GPTQConfig, "awq": keras.quantizers.AWQConfig}[mode](
        dataset=[IDS[:1], IDS[1:]],
        tokenizer=lambda text: text,
        num_samples=2,
        sequence_length=5,
        group_size=-1,
    )
    model.quantize(mode, config=config)
    expected = answers(model, inputs[0])
    np.testing.assert_allclose(expected, exact, atol=0.7)
    assert (expected != exact).any()
    modes = {layer.name: layer.quantization_mode for layer in model.encoder._flatten_layers()}
    assert modes["query"] == mode
    assert not any(layer.quantization_mode for layer in model.decoder._flatten_layers())
    np.testing.assert_array_equal(answers(save_and_load(model, tmp_path), inputs[0]), expected)


@many_layers
def test_weights_of_other_sizes_are_left_out_where_that_is_asked_for(name, tmp_path):
    model, inputs = model_of(name)
    model.save_weights(tmp_path / "one.weights.h5")
    other, _ = model_of(name)
    other.load_weights(tmp_path / "one.weights.h5", skip_mismatch=True)
    np.testing.assert_allclose(answers(other, inputs), answers(model, inputs), atol=1e-6)


@pytest.mark.filterwarnings("ignore:A total of")
def test_blocks_that_fit_are_loaded_beside_an_embedding_that_does_not(tmp_path):
    model, larger = keras_attn.Encoder(9, 1, 6, 7, 3), keras_attn.Encoder(12, 1, 6, 7, 3)
    for layer in (model, larger):
        layer(IDS)
    wrap = [keras.Sequential([keras.Input((5,), dtype="int32"), e]) for e in (model, larger)]
    wrap[0].save_weights(tmp_path / "one.weights.h5")
    wrap[1].load_weights(tmp_path / "one.weights.h5", skip_mismatch=True)
    for mine, others in zip(model.block_0.weights, larger.block_0.weights, strict=True):
        np.testing.assert_array_equal(mine, others)


@on_tensorflow
@every_layer
def test_a_tensorflow_checkpoint_holds_every_weight(name, tmp_path):
    import tensorflow as tf

    layer, inputs = make(name)
    layer(*inputs)
    weights = layer.get_weights()
    checkpoint = tf.train.Checkpoint(layer=layer)
    path = checkpoint.write(str(tmp_path / "checkpoint"))
    layer.set_weights([w + 1 for w in weights])
    checkpoint.restore(path)
    for new, old in zip(layer.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(new, old)


@every_layer
def test_settings_are_plain_values_that_json_knows(name):
    layer, _ = make(name)
    assert json.loads(json.dumps(layer.get_config())) is not None


NUMPY = {
    "num_hiddens": np.int64(6),
    "ffn_num_hiddens": np.int32(7),
    "num_heads": np.int16(3),
    "num_kv_heads": np.uint8(1),
    "dropout": np.float32(0.5),
    "norm_first": np.bool_(False),
    "gated": np.bool_(True),
    "use_bias": np.bool_(True),
    "window": np.int64(3),
    "soft_cap": np.float64(2.0),
}


@pytest.mark.parametrize("kind", ["EncoderBlock", "DecoderBlock", "Encoder", "Decoder"])
def test_numpy_numbers_are_taken(kind, tmp_path):
    sizes = {} if kind.endswith("Block") else {"vocab_size": np.int64(9), "num_layers": np.int8(2)}
    layer = getattr(keras_attn, kind)(**NUMPY, **sizes)
    config = json.loads(json.dumps(layer.get_config()))
    twin = type(layer).from_config(config)
    for name, value in {**NUMPY, **sizes}.items():
        assert getattr(twin, name) == value
        assert type(getattr(twin, name)) in (int, float, bool)


def test_numpy_numbers_are_taken_by_small_layers():
    rate, size = np.float32(0.25), np.int64(4)
    layers = [
        keras_attn.AdditiveAttention(size, rate),
        keras_attn.BilinearAttention(rate),
        keras_attn.DotProductAttention(rate, scale=np.bool_(True)),
        keras_attn.GaussianKernelAttention(np.float32(2), np.bool_(True), rate),
        keras_attn.PositionalEncoding(size, rate),
        keras_attn.LearnedPositionalEncoding(size, rate),
        keras_attn.ShawRelativePosition(size),
        keras_attn.T5RelativeBias(size, np.int64(9), np.bool_(False)),
        keras_attn.RotaryEmbedding(np.float32(100)),
        keras_attn.FeedForward(size, dropout=rate, gated=np.bool_(False)),
        keras_attn.Residual(rate, np.bool_(True)),
        keras_attn.TokenEmbedding(size, size, rate),
    ]
    for layer in layers:
        config = json.loads(json.dumps(layer.get_config()))
        assert type(layer).from_config(config).get_config() == layer.get_config()


def test_one_position_object_serves_several_layers_with_weights_of_their_own(tmp_path):
    for position in (keras_attn.T5RelativeBias(4, 9), keras_attn.ShawRelativePosition(2)):
        x = entry = keras.Input((None, 6))
        for heads in (2, 3):
            x = keras_attn.MultiHeadAttention(6, heads, position=position)(x, x)
        model = keras.Model(entry, x)
        twin = save_and_load(model, tmp_path)
        np.testing.assert_allclose(answers(twin, X), answers(model, X), atol=1e-6)
        assert len(keras.models.clone_model(model).weights) == len(model.weights)
    learned = keras_attn.LearnedPositionalEncoding(7)
    stacks = [keras_attn.Encoder(**{"vocab_size": 9, "num_layers": 1, **SIZES}, position=learned)]
    stacks.append(keras_attn.Encoder.from_config(stacks[0].get_config()))
    tables = []
    for stack in stacks:
        stack(IDS)
        tables.append([v for v in stack.weights if "positional" in v.path or "table" in v.path])
    assert len(tables[0]) == len(tables[1]) == 1
    assert tables[0][0] is not tables[1][0]


def test_alibi_slopes_are_those_of_the_heads_of_each_layer():
    position = keras_attn.AlibiBias()
    for heads in (2, 3):
        layer = keras_attn.MultiHeadAttention(6, heads, position=position)
        alone = keras_attn.MultiHeadAttention(6, heads, position=keras_attn.AlibiBias())
        layer(X, X), alone(X, X)
        alone.set_weights(layer.get_weights())
        np.testing.assert_array_equal(layer(X, X), alone(X, X))
