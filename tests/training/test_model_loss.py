import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attn
from keras_attn import Transformer
from keras_attn.training import SampledCrossEntropy
from keras_attn.training.head import Head
from keras_attn.training.model_loss import ModelLoss
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID

SEED = tf.constant([3, 4], tf.int64)


# Source, target_in and target_out of three pairs of different lengths.
SOURCES = [[10, 11, 4], [12, 4, 6, 7, 9, 7], [4, 4]]
TARGETS = [[9, 7, 7, 8, 6], [4], [4, 5, 10, 5]]
SIDES = (
    [[*source, EOS_ID] for source in SOURCES],
    [[BOS_ID, *target] for target in TARGETS],
    [[*target, EOS_ID] for target in TARGETS],
)
BATCH = [tf.ragged.constant(side, tf.int32).to_tensor(PAD_ID) for side in SIDES]


def make_model(ffn_num_hiddens=16, **options):
    model = Transformer.from_sizes(13, 11, 2, 2, 8, ffn_num_hiddens, 2, **options)
    model.build(((None, None), (None, None)))
    random = np.random.default_rng(1)
    for weight in model.trainable_variables:
        near = 1.0 if weight.path.endswith("gamma") else 0.0
        weight.assign(near + random.normal(0, 0.4, weight.shape))
    return model


def loss_of(model, smoothing):
    head = Head.of_decoder(model.decoder)
    return ModelLoss(model, head, SampledCrossEntropy(1.0, smoothing, PAD_ID))


def at(batch):
    """Arguments of a `ModelLoss`."""
    return tuple(batch[:2]), batch[2], SEED


def reference_costs(logits, targets, smoothing):
    """Cross-entropy of each token against explicit smoothed one-hot targets, 0 for padding."""
    log_p = tf.nn.log_softmax(tf.cast(logits, tf.float64))
    size = logits.shape[-1]
    smooth = (1 - smoothing) * tf.one_hot(targets, size, dtype=tf.float64) + smoothing / size
    return tf.where(targets == PAD_ID, 0.0, -tf.reduce_sum(smooth * log_p, axis=-1))


def reference_loss(model, smoothing=0.1):
    costs = reference_costs(model(BATCH[:2]), BATCH[2], smoothing)
    return tf.reduce_sum(costs) / np.count_nonzero(BATCH[2])


def value_and_gradients(model, function):
    with tf.GradientTape() as tape:
        value = function()
    weights = [weight.value for weight in model.trainable_variables]
    return float(value), [tf.convert_to_tensor(g) for g in tape.gradient(value, weights)]


@pytest.mark.parametrize(
    ("smoothing", "options"),
    [
        (0.0, {}),
        (0.6, {"ffn_num_hiddens": 512}),
        (0.1, {"norm": "rms", "gated": True, "activation": "silu"}),
        (0.1, {"norm_first": False, "use_bias": True, "num_kv_heads": 1}),
        (0.1, {"position": keras_attn.RotaryEmbedding(), "qk_norm": "rms", "use_gate": True}),
        (0.1, {"position": keras_attn.LearnedPositionalEncoding(16), "use_sinks": True}),
    ],
)
def test_value_and_gradients_are_those_of_the_model(smoothing, options):
    model = make_model(**options)
    loss = loss_of(model, smoothing)
    value, gradients = value_and_gradients(model, lambda: loss(*at(BATCH)))
    expected, of_reference = value_and_gradients(model, lambda: reference_loss(model, smoothing))
    assert value == pytest.approx(expected, rel=1e-5)
    both = zip(model.trainable_variables, gradients, of_reference, strict=True)
    for weight, mine, reference in both:
        error = np.abs(mine - reference).max()
        assert error < 1e-5 + 1e-4 * np.abs(reference).max(), weight.path


def test_bfloat16_is_near_and_the_loss_float32():
    model = make_model()
    exact = loss_of(model, 0.1)
    exact_value, exact_gradients = value_and_gradients(model, lambda: exact(*at(BATCH)))
    model = make_model(dtype="mixed_bfloat16")
    loss = loss_of(model, 0.1)
    assert loss(*at(BATCH)).dtype == tf.float32
    value, gradients = value_and_gradients(model, lambda: loss(*at(BATCH)))
    assert value == pytest.approx(exact_value, rel=0.02)
    errors, sizes = [], []
    for mine, reference in zip(gradients, exact_gradients, strict=True):
        assert mine.dtype == tf.float32
        errors.append(np.linalg.norm(mine - reference))
        sizes.append(np.linalg.norm(reference))
        # Processors without bfloat16 sum in it too, and small gradients suffer.
        assert errors[-1] < 0.5 * sizes[-1]
    assert np.linalg.norm(errors) < 0.1 * np.linalg.norm(sizes)

    # Kernels are shared in the dtype of their layers.
    exact = model.encoder.block_0._feed_forward._inner_dense
    exact.dtype_policy = "float32"
    shared, _ = loss_of(model, 0.1).share(BATCH[2], SEED)
    for weight, value in zip(model.trainable_variables, shared.weights, strict=True):
        is_half = weight.path.endswith("kernel") and weight is not exact.kernel
        assert value.dtype == (tf.bfloat16 if is_half else tf.float32), weight.path


def test_more_padding_changes_nothing_and_frozen_weights_no_value():
    model = make_model()
    loss = loss_of(model, 0.1)
    value, gradients = value_and_gradients(model, lambda: loss(*at(BATCH)))
    wider = [tf.pad(ids, [[0, 2], [0, 3]]) for ids in BATCH]
    again, wider_gradients = value_and_gradients(model, lambda: loss(*at(wider)))
    assert again == pytest.approx(value, rel=1e-5)
    for one, other in zip(gradients, wider_gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-6)
    model.encoder.trainable = False
    loss = loss_of(model, 0.1)
    again, gradients = value_and_gradients(model, lambda: loss(*at(BATCH)))
    assert again == pytest.approx(value, rel=1e-6)
    assert len(gradients) == len(model.decoder.trainable_variables)


def test_the_seed_decides_what_is_dropped_up_to_nearly_everything():
    model = make_model(dropout=0.3)
    loss = loss_of(model, 0.1)
    first, again = (float(loss(*at(BATCH))) for _ in range(2))
    others = {float(loss(*at(BATCH)[:2], tf.constant([3, step], tf.int64))) for step in range(4)}
    assert first == again
    assert len(others) == 4
    nothing = tf.zeros((2, 3), tf.int32)
    value, gradients = value_and_gradients(model, lambda: loss(*at([nothing] * 3)))
    assert value == 0.0 and not any(np.any(gradient) for gradient in gradients)
    loss = loss_of(make_model(dropout=0.999), 0.1)
    assert np.isfinite(float(loss(*at(BATCH))))


def test_dropout_does_what_the_layers_do():
    keras.utils.set_random_seed(2)
    model = make_model(dropout=0.5)
    times = 200
    batch = [tf.tile(ids, [times, 1]) for ids in BATCH]
    mine = float(loss_of(model, 0.0)(*at(batch)))
    costs = reference_costs(model(batch[:2], training=True), batch[2], 0.0)
    num_tokens = np.count_nonzero(BATCH[2])
    theirs = np.reshape(costs, (times, -1)).sum(1) / num_tokens
    error = np.std(theirs) * np.sqrt(2 / times)
    assert mine == pytest.approx(np.mean(theirs), abs=4 * error)
    # What is tested could be seen: without dropout the loss is another.
    assert abs(mine - float(reference_loss(model, 0.0))) > 8 * error
