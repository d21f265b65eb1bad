import numpy as np
import pytest
import tensorflow as tf

from keras_attn import Transformer
from keras_attn.translation.named_weights import of_model
from keras_attn.translation.training.training_kernels import TrainingKernels


@pytest.fixture
def model():
    model = Transformer.from_sizes(13, 11, 1, 2, 8, 512, 2)
    model.build(((None, None), (None, None)))
    random = np.random.default_rng(1)
    for weight in model.trainable_variables:
        weight.assign(random.normal(0, 1, weight.shape))
    return model


def normalised(rows):
    return (rows - rows.mean(axis=-1, keepdims=True)) / rows.std(axis=-1, keepdims=True)


def by_norm_and_kernel(weights, norm, kernel, rows):
    """Product of `rows` after a normalisation with gain and offset."""
    return (normalised(rows) * weights[f"{norm}/gamma"] + weights[f"{norm}/beta"]) @ kernel


def test_products_of_one_input_are_one_and_queries_scaled(model):
    weights, kernels = of_model(model), TrainingKernels(model, "float32", dropout_scale=1.0)()
    rows = np.random.default_rng(2).normal(size=(5, 8))
    block = "decoder/block_1"
    made = normalised(rows) @ kernels[f"{block}/self_attention/input/kernel"]
    made += kernels[f"{block}/self_attention/input/bias"]
    for i, part in enumerate(("query", "key", "value")):
        kernel = weights[f"{block}/self_attention/{part}/kernel"]
        expected = by_norm_and_kernel(weights, f"{block}/around_self_attention/norm", kernel, rows)
        scale = 4**-0.5 if part == "query" else 1.0  # heads of width 4
        np.testing.assert_allclose(made[:, 8 * i : 8 * (i + 1)], scale * expected, rtol=1e-4)


def test_memory_has_keys_and_values_of_each_layer(model):
    weights, kernels = of_model(model), TrainingKernels(model, "float32", dropout_scale=1.0)()
    rows = np.random.default_rng(2).normal(size=(5, 8))
    made = normalised(rows) @ kernels["memory/kernel"] + kernels["memory/bias"]
    kernel = weights["decoder/block_1/cross_attention/key/kernel"]
    expected = by_norm_and_kernel(weights, "encoder/norm", kernel, rows)
    np.testing.assert_allclose(made[:, 16:24], expected, rtol=1e-4)


@pytest.mark.parametrize("pieces", [None, [7, 2, 10]])
def test_logits_of_some_pieces_or_all(model, pieces):
    weights = of_model(model)
    chosen = None if pieces is None else tf.constant(pieces)
    kernels = TrainingKernels(model, "float32", dropout_scale=1.0)(chosen)
    rows = np.random.default_rng(2).normal(size=(5, 8))
    made = normalised(rows) @ kernels["logits/kernel"] + kernels["logits/bias"]
    columns = range(11) if pieces is None else pieces
    kernel = weights["decoder/logits/kernel"][:, columns]
    expected = by_norm_and_kernel(weights, "decoder/norm", kernel, rows)
    expected += weights["decoder/logits/bias"][list(columns)]
    np.testing.assert_allclose(made, expected, rtol=1e-4)


@pytest.mark.parametrize(("dtype", "spare"), [("float32", 16), ("bfloat16", 0)])
def test_slow_rows_have_spare_columns_of_zeros(model, dtype, spare):
    kernels = TrainingKernels(model, dtype, dropout_scale=2.0)()
    layer = "encoder/block_0/feed_forward"
    inner, outer = (kernels[f"{layer}/{side}/kernel"] for side in ("inner", "outer"))
    assert inner.dtype == outer.dtype == dtype
    assert (
        inner.shape[1] == outer.shape[0] == kernels[f"{layer}/inner/bias"].shape[0] == 512 + spare
    )
    assert not np.any(inner[:, 512:]) and not np.any(outer[512:])


def test_what_is_behind_a_dropout_is_scaled_and_attention_twice(model):
    once, twice = (TrainingKernels(model, "float32", scale)() for scale in (1.0, 2.0))
    block = "encoder/block_0"
    for name, factor in (
        (f"{block}/feed_forward/outer/kernel", 2),
        (f"{block}/feed_forward/outer/bias", 2),
        (f"{block}/self_attention/output/kernel", 4),
        (f"{block}/self_attention/input/kernel", 1),
    ):
        np.testing.assert_allclose(twice[name], factor * once[name], rtol=1e-6)
