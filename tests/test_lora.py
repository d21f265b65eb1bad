import keras
import numpy as np
import pytest
from every_layer import IDS, INPUTS, LAYERS, X, built, make, model_of, same_answers
from keras import ops

import keras_attn

adaptable = pytest.mark.parametrize(
    "name", ["MultiHeadAttention-options", "DecoderBlock", "Encoder", "Transformer"]
)


def adapt(layer, rank=2, **kwargs):
    """Add adapters that are not zero."""
    layer.enable_lora(rank, **kwargs)
    random = np.random.default_rng(0)
    for variable in layer.trainable_weights:
        variable.assign(random.normal(size=variable.shape))


def adapted(name, rank=2, **kwargs):
    """A layer with adapters that are not zero, and its inputs."""
    layer, inputs = make(name)
    layer(*inputs)
    adapt(layer, rank, **kwargs)
    return layer, inputs


def answers(layer, inputs):
    return ops.convert_to_numpy(layer(*inputs))


def test_every_layer_with_projections_named_query_can_be_adapted():
    for name in LAYERS:
        layer, _, _ = built(name)
        named = {part.name for part in layer._flatten_layers()}
        if {"query", "value"} <= named and name != "Residual":
            assert hasattr(layer, "enable_lora"), name


@adaptable
def test_adapters_are_all_that_is_trained_and_change_nothing_at_first(name):
    layer, inputs = make(name)
    expected = answers(layer, inputs)
    layer.enable_lora(2)
    np.testing.assert_allclose(answers(layer, inputs), expected, atol=1e-6)
    paths = {v.path.split("/")[-1] for v in layer.trainable_weights}
    assert paths == {"lora_kernel_a", "lora_kernel_b"}
    owners = {v.path.split("/")[-2] for v in layer.trainable_weights}
    assert owners == {"query", "value"}


def test_an_adapted_projection_is_the_formula():
    layer, _ = adapted("MultiHeadAttention", rank=3, lora_alpha=6.0, names=["query"])
    dense = layer._query_dense
    x = np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32)
    a, b = map(ops.convert_to_numpy, (dense.lora_kernel_a, dense.lora_kernel_b))
    kernel = ops.convert_to_numpy(dense._kernel) + 6.0 / 3 * a @ b
    bias = ops.convert_to_numpy(dense.bias)
    np.testing.assert_allclose(dense(x), x @ kernel + bias, atol=1e-5)


def test_a_saved_adapted_model_has_its_answers_kernels_and_adapters(tmp_path):
    labels = ["MultiHeadAttention-options", "DecoderBlock", "Transformer"]
    model = model_of(labels)
    for layer in model.layers:
        if layer.name in labels:
            adapt(layer)
    expected = model(INPUTS)
    model.save(tmp_path / "adapted.keras")
    loaded = keras.saving.load_model(tmp_path / "adapted.keras")
    same_answers(loaded(INPUTS), expected, atol=1e-6)
    for kind in ("trainable_weights", "weights"):
        for mine, others in zip(getattr(loaded, kind), getattr(model, kind), strict=True):
            np.testing.assert_array_equal(mine, others)


def test_weights_from_before_adaptation_load_and_can_be_trained(tmp_path):
    model, _ = make("Transformer")
    expected = ops.convert_to_numpy(model([IDS, IDS]))
    model.save_weights(tmp_path / "base.weights.h5")
    other, _ = adapted("Transformer")
    other.load_weights(tmp_path / "base.weights.h5")
    np.testing.assert_allclose(other([IDS, IDS]), expected, atol=1e-6)
    before = [ops.convert_to_numpy(v) for v in other.trainable_weights]
    # Steps of a size that a float32 shows, however small the gradient of an adapter is.
    other.compile(keras.optimizers.Adam(0.01, epsilon=1e-20), "mse", run_eagerly=True)
    other.fit([IDS, IDS], np.ones((2, 5, 9)), epochs=2, verbose=0)
    for new, old in zip(other.trainable_weights, before, strict=True):
        assert (ops.convert_to_numpy(new) != old).any()


@adaptable
def test_adapters_alone_are_saved_and_loaded_into_the_same_base(name, tmp_path):
    layer, inputs = adapted(name, lora_alpha=5.0)
    base, _ = make(name)
    base(*inputs)
    base_names = {v.path.split("/")[-1] for v in base.weights}
    assert "lora_kernel_a" not in base_names
    own = [v for v in layer.weights if "lora" not in v.path]
    for mine, others in zip(base.weights, own, strict=True):
        mine.assign(others)
    layer.save_lora_weights(tmp_path / "adapters.npz")
    base.load_lora_weights(tmp_path / "adapters.npz")
    np.testing.assert_allclose(answers(base, inputs), answers(layer, inputs), atol=1e-6)
    assert len(base.trainable_weights) == len(layer.trainable_weights)
    with np.load(tmp_path / "adapters.npz") as saved:
        assert len(saved.files) == 3 * len(layer.trainable_weights) / 2


def test_weights_beside_adapters_stay_frozen_in_parts_without_adapters(tmp_path):
    model = keras_attn.Transformer.from_sizes(9, 9, 1, 1, 6, 7, 3, use_sinks=True)
    model([IDS, IDS])
    model.enable_lora(2, names=["logits"])
    model.save(tmp_path / "adapted.keras")
    loaded = keras.saving.load_model(tmp_path / "adapted.keras")
    assert [v.trainable for v in loaded.weights] == [v.trainable for v in model.weights]
    assert len(loaded.trainable_weights) == 2


def test_a_projection_adapted_by_itself_keeps_its_bias_trainable(tmp_path):
    layer, inputs = make("MultiHeadAttention")
    entries = [keras.Input(x.shape[1:]) for x in inputs]
    model = keras.Model(entries, layer(*entries))
    layer._query_dense.enable_lora(2)
    model.save(tmp_path / "adapted.keras")
    loaded = keras.saving.load_model(tmp_path / "adapted.keras")
    assert [v.trainable for v in loaded.weights] == [v.trainable for v in model.weights]


def test_adapters_fit_models_whose_parts_keras_has_named(tmp_path):
    models = []
    for _ in range(2):
        encoder = keras_attn.Encoder(9, 1, 6, 7, 3)
        decoder = keras_attn.Decoder(9, 1, 6, 7, 3)
        models.append(keras_attn.Transformer(encoder, decoder))
        models[-1]([IDS, IDS])
        models[-1].set_weights(models[0].get_weights())
    models[0].enable_lora(2)
    for variable in models[0].trainable_weights:
        variable.assign(np.ones(variable.shape))
    models[0].save_lora_weights(tmp_path / "adapters.npz")
    models[1].load_lora_weights(tmp_path / "adapters.npz")
    expected = answers(models[0], [[IDS, IDS]])
    np.testing.assert_allclose(answers(models[1], [[IDS, IDS]]), expected, atol=1e-6)


def test_a_second_rank_is_refused():
    layer, _ = adapted("EncoderBlock", rank=2)
    layer.enable_lora(2, names=["output"])
    with pytest.raises(ValueError, match=r"`rank` must be .*Received: rank=3, .* rank \[2\]"):
        layer.enable_lora(3)


def test_adapters_that_do_not_fit_change_nothing(tmp_path):
    adapted("Encoder", rank=2)[0].save_lora_weights(tmp_path / "two.npz")
    for other in (adapted("Encoder", rank=3)[0], keras_attn.Encoder(9, 2, 12, 7, 3)):
        other(IDS)
        before = other.get_weights()
        with pytest.raises(ValueError, match="`path` must hold adapters of .*Received: adapters"):
            other.load_lora_weights(tmp_path / "two.npz")
        for mine, old in zip(other.get_weights(), before, strict=True):
            np.testing.assert_array_equal(mine, old)


def test_wrong_calls_are_named():
    layer = keras_attn.MultiHeadAttention(6, 2)
    layer(X, X)
    cases = [
        (lambda: layer.enable_lora(0), "`rank` must be a positive integer. Received: rank=0"),
        (lambda: layer.enable_lora(2, -1.0), "`lora_alpha` must be a number above 0"),
        (lambda: layer.enable_lora(2, names=["queries"]), "`names` must be among .*'query'"),
        (lambda: layer.save_lora_weights("x.npz"), "Call `enable_lora` before"),
        (lambda: layer.load_lora_weights("x.h5"), "`path` must end in"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()


def test_a_layer_that_is_not_built_says_so():
    with pytest.raises(ValueError, match="before `enable_lora`.*built=False"):
        keras_attn.EncoderBlock(6, 7, 2).enable_lora(2)
