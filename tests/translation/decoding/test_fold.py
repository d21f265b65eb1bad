import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attn
from keras_attn import Decoder, Encoder, Transformer
from keras_attn.translation import named_weights
from keras_attn.translation.decoding.fold import can_fold, fold, unfold

SOURCE = tf.constant([[4, 9, 2, 3, 0], [7, 3, 0, 0, 0], [12, 5, 5, 8, 3]])
TARGET = tf.constant([[2, 4, 5, 6], [2, 9, 0, 0], [2, 10, 7, 0]])
OPTIONS = [
    {},
    {"norm": "rms"},
    {"use_bias": True, "gated": True, "activation": "silu"},
    {"num_kv_heads": 1, "use_gate": True, "qk_norm": "rms"},
    {"position": keras_attn.RotaryEmbedding(), "use_sinks": True},
    {"position": keras_attn.LearnedPositionalEncoding(8)},
    {"position": keras_attn.ShawRelativePosition(3)},
    {"position": keras_attn.T5RelativeBias(8, 16), "soft_cap": 5.0},
    {"position": keras_attn.AlibiBias()},
    {"position": None},
]


@pytest.fixture(params=OPTIONS, ids=lambda options: "-".join(options) or "default")
def model(request):
    model = Transformer.from_sizes(13, 11, 2, 2, 12, 16, 2, **request.param)
    model.build(((None, None), (None, None)))
    random = np.random.default_rng(0)
    for weight in model.trainable_variables:
        weight.assign((np.asarray(weight) == 1) + random.normal(0, 0.5, weight.shape))
    return model


def test_the_folded_model_has_the_same_answers_in_fewer_operations(model):
    folded = fold(model, num_positions=8)
    assert can_fold(model)
    assert type(folded) is Transformer
    assert not folded.encoder.norm_weights and folded.decoder.norm == "rms"
    np.testing.assert_allclose(folded((SOURCE, TARGET)), model((SOURCE, TARGET)), atol=2e-4)


def test_unfolding_gives_a_model_of_the_same_answers(model):
    weights = named_weights.of_model(fold(model, num_positions=8))
    twin = keras.models.clone_model(model)
    twin.build(((None, None), (None, None)))
    named_weights.assign(twin.trainable_variables, unfold(weights, twin))
    np.testing.assert_allclose(twin((SOURCE, TARGET)), model((SOURCE, TARGET)), atol=1e-3)


def test_terms_of_the_residual_stream_are_centred(tiny_model):
    folded = named_weights.of_model(fold(tiny_model, num_positions=8))
    terms = [p for p in folded if "embeddings" in p or "table" in p or "/output/" in p]
    terms += [path for path in folded if "/outer/" in path]
    assert len(terms) == 4 + 6 * 2 + 4 * 2
    for path in terms:
        np.testing.assert_allclose(folded[path].mean(-1), 0, atol=1e-6)


@keras.saving.register_keras_serializable("test_fold")
class MyEncoder(Encoder):
    def call(self, ids, **arguments):
        return -super().call(ids, **arguments)


@pytest.mark.parametrize(
    ("encoder", "decoder"),
    [
        (Encoder, {"norm_first": False}),
        (Encoder, {"tie_embeddings": True}),
        (Encoder, {"norm": "rms"}),
        (MyEncoder, {}),
    ],
    ids=["post-norm", "tied", "two norms", "subclass"],
)
def test_what_cannot_be_folded_stays_as_it_is(encoder, decoder):
    sizes = (2, 12, 16, 2)
    model = Transformer(encoder(13, *sizes), Decoder(11, *sizes, **decoder))
    model.build(((None, None), (None, None)))
    folded = fold(model, num_positions=8)
    assert not can_fold(model)
    assert type(folded.encoder) is encoder
    np.testing.assert_allclose(folded((SOURCE, TARGET)), model((SOURCE, TARGET)), atol=1e-6)


def test_a_quantized_model_is_not_folded(tiny_model):
    model = keras.models.clone_model(tiny_model)
    model.build(((None, None), (None, None)))
    model.quantize("int8")
    assert not can_fold(model)


def test_bfloat16_is_near(tiny_model):
    folded = fold(tiny_model, num_positions=8, dtype="bfloat16")
    assert {weight.dtype for weight in folded.weights} == {"bfloat16"}
    expected = tiny_model((SOURCE, TARGET))
    found = tf.cast(folded((SOURCE, TARGET)), tf.float32)
    assert np.abs(found - expected).max() < 0.3 * np.abs(expected).max()
