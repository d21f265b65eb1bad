import keras
import numpy as np
import pytest
from every_layer import IDS, X, make, same, same_weights, save_and_load
from keras import ops

import keras_attn


def draw_adapters(layer):
    random = np.random.default_rng(0)
    for variable in layer.trainable_weights:
        variable.assign(random.normal(size=variable.shape))


def adapted(name, rank=2, **kwargs):
    """A layer with adapters that are not zero, and its inputs."""
    layer, inputs = make(name)
    layer(*inputs)
    layer.enable_lora(rank, **kwargs)
    draw_adapters(layer)
    return layer, inputs


@pytest.mark.parametrize(
    "name", ["MultiHeadAttention-options", "DecoderBlock", "Encoder", "Transformer"]
)
def test_adapters_alone_are_trained_change_nothing_at_first_and_are_saved(name, tmp_path):
    layer, inputs = make(name)
    expected = layer(*inputs)
    layer.enable_lora(2, lora_alpha=5.0)
    same(layer(*inputs), expected, atol=1e-6)
    paths = {tuple(v.path.split("/")[-2:]) for v in layer.trainable_weights}
    sides = ("lora_kernel_a", "lora_kernel_b")
    assert paths == {(owner, side) for owner in ("query", "value") for side in sides}
    draw_adapters(layer)
    layer.save_lora_weights(tmp_path / "adapters.npz")
    with np.load(tmp_path / "adapters.npz") as saved:
        assert len(saved.files) == 3 * len(layer.trainable_weights) / 2

    base, _ = make(name)
    base(*inputs)
    own = [v for v in layer.weights if "lora" not in v.path]
    for mine, others in zip(base.weights, own, strict=True):
        mine.assign(others)
    base.load_lora_weights(tmp_path / "adapters.npz")
    same(base(*inputs), layer(*inputs), atol=1e-6)
    assert len(base.trainable_weights) == len(layer.trainable_weights)


def test_an_adapted_projection_is_the_formula():
    layer, _ = adapted("MultiHeadAttention", rank=3, lora_alpha=6.0, names=["query"])
    dense = layer._query_dense
    x = np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32)
    a, b = map(ops.convert_to_numpy, (dense.lora_kernel_a, dense.lora_kernel_b))
    kernel = ops.convert_to_numpy(dense._kernel) + 6.0 / 3 * a @ b
    bias = ops.convert_to_numpy(dense.bias)
    np.testing.assert_allclose(dense(x), x @ kernel + bias, atol=1e-5)


def test_a_model_takes_weights_from_before_is_trained_and_saved_with_its_adapters(tmp_path):
    keras.utils.set_random_seed(1)  # rarely, a softmax of one key alone has no gradient
    model, inputs = make("Transformer")
    expected = model(*inputs)
    model.save_weights(tmp_path / "base.weights.h5")
    other, _ = adapted("Transformer")
    other.load_weights(tmp_path / "base.weights.h5")
    same(other(*inputs), expected, atol=1e-6)
    before = [ops.convert_to_numpy(v) for v in other.trainable_weights]
    # Steps of a size that a float32 shows, however small the gradient of an adapter is.
    other.compile(keras.optimizers.Adam(0.01, epsilon=1e-20), "mse", run_eagerly=True)
    other.fit([IDS, IDS], np.ones((2, 5, 9)), epochs=2, verbose=0)
    for new, old in zip(other.trainable_weights, before, strict=True):
        assert (ops.convert_to_numpy(new) != old).any()

    loaded = save_and_load(other, tmp_path)
    same(loaded(*inputs), other(*inputs), atol=1e-6)
    same_weights(loaded.trainable_weights, other.trainable_weights)
    same_weights(loaded, other)


def test_weights_beside_adapters_stay_frozen_in_parts_without_adapters(tmp_path):
    model = keras_attn.Transformer.from_sizes(9, 9, 1, 1, 6, 7, 3, use_sinks=True)
    model([IDS, IDS])
    model.enable_lora(2, names=["logits"])
    loaded = save_and_load(model, tmp_path)
    assert [v.trainable for v in loaded.weights] == [v.trainable for v in model.weights]
    assert len(loaded.trainable_weights) == 2


def test_a_projection_adapted_by_itself_keeps_its_bias_trainable(tmp_path):
    layer, inputs = make("MultiHeadAttention")
    entries = [keras.Input(x.shape[1:]) for x in inputs]
    model = keras.Model(entries, layer(*entries))
    layer._query_dense.enable_lora(2)
    loaded = save_and_load(model, tmp_path)
    assert [v.trainable for v in loaded.weights] == [v.trainable for v in model.weights]
    same_weights(loaded, model)


def test_adapters_fit_models_whose_parts_keras_has_named(tmp_path):
    first, second = (
        keras_attn.Transformer(keras_attn.Encoder(9, 1, 6, 7, 3), keras_attn.Decoder(9, 1, 6, 7, 3))
        for _ in range(2)
    )
    first([IDS, IDS]), second([IDS, IDS])
    second.set_weights(first.get_weights())
    first.enable_lora(2)
    draw_adapters(first)
    first.save_lora_weights(tmp_path / "adapters.npz")
    second.load_lora_weights(tmp_path / "adapters.npz")
    same(second([IDS, IDS]), first([IDS, IDS]), atol=1e-6)


def test_adapters_that_do_not_fit_change_nothing(tmp_path):
    adapted("Encoder", rank=2)[0].save_lora_weights(tmp_path / "two.npz")
    for other in (adapted("Encoder", rank=3)[0], keras_attn.Encoder(9, 2, 12, 7, 3)):
        other(IDS)
        before = other.get_weights()
        with pytest.raises(ValueError, match="`path` must hold adapters of .*Received: adapters"):
            other.load_lora_weights(tmp_path / "two.npz")
        same_weights(other, before)


def test_wrong_calls_are_named():
    layer, block = keras_attn.MultiHeadAttention(6, 2), adapted("EncoderBlock", rank=2)[0]
    layer(X, X)
    block.enable_lora(2, names=["output"])
    not_built = keras_attn.EncoderBlock(6, 7, 2)
    cases = [
        (lambda: layer.enable_lora(0), "`rank` must be a positive integer. Received: rank=0"),
        (lambda: layer.enable_lora(2, -1.0), "`lora_alpha` must be a number above 0"),
        (lambda: layer.enable_lora(2, names=["queries"]), "`names` must be among .*'query'"),
        (lambda: layer.save_lora_weights("x.npz"), "Call `enable_lora` before"),
        (lambda: layer.load_lora_weights("x.h5"), "`path` must end in"),
        (lambda: block.enable_lora(3), r"`rank` must be .*Received: rank=3, .* rank \[2\]"),
        (lambda: not_built.enable_lora(2), "before `enable_lora`.*built=False"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()
