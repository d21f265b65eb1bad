import numpy as np
import pytest
import tensorflow as tf

import keras_attn
from keras_attn import Decoder, Encoder, Transformer
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID
from keras_attn.translation.training.translation_loss import TranslationLoss

SEED = tf.constant([3, 4], tf.int64)


def make_model(spread=0.4, ffn_num_hiddens=16, **options):
    model = Transformer.from_sizes(13, 11, 2, 2, 8, ffn_num_hiddens, 2, **options)
    model.build(((None, None), (None, None)))
    random = np.random.default_rng(1)
    for weight in model.trainable_variables:
        near = 1.0 if weight.path.endswith("gamma") else 0.0
        weight.assign(near + random.normal(0, spread, weight.shape))
    return model


def make_batch(lengths=((3, 5), (6, 1), (2, 4)), seed=5):
    """Source, target_in, target_out of pairs with these numbers of pieces."""
    random = np.random.default_rng(seed)
    source_length, target_length = (max(side) + 1 for side in zip(*lengths, strict=True))
    source, target_in, target_out = (
        np.full((len(lengths), length), PAD_ID, np.int32)
        for length in (source_length, target_length, target_length)
    )
    for row, (s, t) in enumerate(lengths):
        pieces = random.integers(4, 11, t)
        source[row, : s + 1] = [*random.integers(4, 13, s), EOS_ID]
        target_in[row, : t + 1] = [BOS_ID, *pieces]
        target_out[row, : t + 1] = [*pieces, EOS_ID]
    return tuple(map(tf.constant, (source, target_in, target_out)))


def reference_loss(logits, targets, smoothing):
    """Cross-entropy against explicit smoothed one-hot targets, token by token."""
    costs = []
    for row, distributions in zip(targets.numpy(), tf.cast(logits, tf.float64), strict=True):
        for y, log_p in zip(row, tf.nn.log_softmax(distributions), strict=True):
            if y != PAD_ID:
                smooth = np.full(len(log_p), smoothing / len(log_p))
                smooth[y] += 1 - smoothing
                costs.append(-tf.reduce_sum(smooth * log_p))
    return tf.add_n(costs) / len(costs)


def value_and_gradients(function, model):
    with tf.GradientTape() as tape:
        value = function()
    weights = [weight.value for weight in model.trainable_variables]
    return float(value), [tf.convert_to_tensor(g) for g in tape.gradient(value, weights)]


@pytest.mark.parametrize(
    ("smoothing", "ffn_num_hiddens"), [(0.0, 16), (0.1, 16), (0.6, 16), (0.1, 512)]
)
def test_value_and_gradients_are_those_of_the_model(smoothing, ffn_num_hiddens):
    model = make_model(ffn_num_hiddens=ffn_num_hiddens)
    source, target_in, target_out = make_batch()
    loss = TranslationLoss(model, smoothing)
    value, gradients = value_and_gradients(lambda: loss(source, target_in, target_out, SEED), model)
    expected, expected_gradients = value_and_gradients(
        lambda: reference_loss(model((source, target_in)), target_out, smoothing), model
    )
    assert value == pytest.approx(expected, rel=1e-5)
    for weight, mine, reference in zip(
        model.trainable_variables, gradients, expected_gradients, strict=True
    ):
        error = np.abs(mine - reference).max()
        assert error < 1e-5 + 1e-4 * np.abs(reference).max(), weight.path


def test_bfloat16_is_near_and_the_loss_float32():
    model = make_model()
    batch = make_batch()
    exact, exact_gradients = value_and_gradients(
        lambda: TranslationLoss(model, 0.1)(*batch, SEED), model
    )
    model = make_model(dtype="mixed_bfloat16")
    loss = TranslationLoss(model, 0.1)
    assert loss(*batch, SEED).dtype == tf.float32
    value, gradients = value_and_gradients(lambda: loss(*batch, SEED), model)
    assert value == pytest.approx(exact, rel=0.02)
    for mine, reference in zip(gradients, exact_gradients, strict=True):
        assert mine.dtype == tf.float32
        # Processors without bfloat16 sum in it too, and small gradients suffer.
        assert np.linalg.norm(mine - reference) < 0.5 * np.linalg.norm(reference)
    mine, reference = (
        np.concatenate([np.ravel(gradient) for gradient in both])
        for both in (gradients, exact_gradients)
    )
    assert np.linalg.norm(mine - reference) < 0.1 * np.linalg.norm(reference)


def test_shared_kernels_have_the_dtype_of_their_layers():
    model = make_model(dtype="mixed_bfloat16")
    exact = model.encoder.block_0._feed_forward._inner_dense
    exact.dtype_policy = "float32"
    shared, _ = TranslationLoss(model, 0.1).share(make_batch()[2], SEED)
    for weight, value in zip(model.trainable_variables, shared.weights, strict=True):
        is_half = weight.path.endswith("kernel") and weight is not exact.kernel
        assert value.dtype == (tf.bfloat16 if is_half else tf.float32), weight.path


def test_more_padding_changes_nothing():
    model = make_model()
    loss = TranslationLoss(model, 0.1)
    batch = make_batch()
    value, gradients = value_and_gradients(lambda: loss(*batch, SEED), model)
    wider = [tf.pad(ids, [[0, 2], [0, 3]]) for ids in batch]
    again, wider_gradients = value_and_gradients(lambda: loss(*wider, SEED), model)
    assert again == pytest.approx(value, rel=1e-5)
    for one, other in zip(gradients, wider_gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-6)


def test_the_seed_decides_what_is_dropped_up_to_nearly_everything():
    batch = make_batch()
    loss = TranslationLoss(make_model(dropout=0.3), 0.1)
    first, again = (float(loss(*batch, SEED)) for _ in range(2))
    others = {float(loss(*batch, tf.constant([3, step], tf.int64))) for step in range(4)}
    assert first == again
    assert len(others) == 4
    nothing = tf.zeros((2, 3), tf.int32)
    assert float(loss(nothing, nothing, nothing, SEED)) == 0.0
    loss = TranslationLoss(make_model(dropout=0.999), 0.1)
    assert np.isfinite(float(loss(*batch, SEED)))


def test_dropout_does_what_the_layers_do():
    model = make_model(dropout=0.5, spread=1.0)
    source, target_in, target_out = make_batch()
    loss = TranslationLoss(model, 0.0)
    fast = tf.function(lambda seed: loss(source, target_in, target_out, seed))

    @tf.function
    def by_layers():
        logits = model((source, target_in), training=True)
        return reference_loss_in_graph(logits, target_out)

    mine = [float(fast(tf.constant([0, n], tf.int64))) for n in range(100)]
    theirs = [float(by_layers()) for _ in range(100)]
    error = np.hypot(np.std(mine), np.std(theirs)) / np.sqrt(100)
    assert np.mean(mine) == pytest.approx(np.mean(theirs), abs=4 * error)
    assert np.std(mine) == pytest.approx(np.std(theirs), rel=0.25)
    # What is tested could be seen: without dropout the loss is another.
    without = float(reference_loss_in_graph(model((source, target_in)), target_out))
    assert abs(np.mean(mine) - without) > 8 * error


def reference_loss_in_graph(logits, targets):
    costs = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
    return tf.reduce_mean(costs[targets != PAD_ID])


@pytest.mark.parametrize(
    "options",
    [
        {"norm": "rms", "gated": True, "activation": "silu"},
        {"norm_first": False, "use_bias": True, "num_kv_heads": 1},
        {"position": keras_attn.RotaryEmbedding(), "qk_norm": "rms", "use_gate": True},
        {"position": keras_attn.LearnedPositionalEncoding(16), "use_sinks": True},
    ],
    ids=lambda options: "-".join(options),
)
def test_a_model_with_any_options_is_trained(options):
    model = make_model(**options)
    batch = make_batch()
    loss = TranslationLoss(model, 0.1)
    value, gradients = value_and_gradients(lambda: loss(*batch, SEED), model)
    expected, expected_gradients = value_and_gradients(
        lambda: reference_loss(model(batch[:2]), batch[2], 0.1), model
    )
    assert value == pytest.approx(expected, rel=1e-5)
    for mine, reference in zip(gradients, expected_gradients, strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-3, atol=1e-5)


def test_frozen_weights_have_no_gradient_and_count_in_the_loss():
    model = make_model()
    batch = make_batch()
    expected = float(TranslationLoss(model, 0.1)(*batch, SEED))
    model.encoder.trainable = False
    loss = TranslationLoss(model, 0.1)
    value, gradients = value_and_gradients(lambda: loss(*batch, SEED), model)
    assert value == pytest.approx(expected, rel=1e-6)
    assert len(gradients) == len(model.decoder.trainable_variables)


class Louder(Decoder):
    """Decoder with logits of its own."""

    def call(
        self,
        ids,
        memory=None,
        memory_valid_lens=None,
        cache=None,
        start=0,
        return_attention_scores=False,
        training=None,
        memory_mask=None,
    ):
        return 2.0 * super().call(ids, memory, memory_mask=memory_mask, training=training)


class Blind(Transformer):
    """Transformer whose decoder sees the negative memory."""

    def call(self, inputs, training=None):
        source, target = inputs
        memory = -self.encoder(source, training=training)
        mask = self.encoder.compute_mask(source)
        return self.decoder(target, memory, memory_mask=mask, training=training)


@pytest.mark.parametrize(
    ("model_class", "decoder_class"), [(Transformer, Louder), (Blind, Decoder)]
)
def test_a_subclass_is_trained_as_it_is_written(model_class, decoder_class):
    twin = make_model()
    sizes = (2, 8, 16, 2)
    model = model_class(Encoder(13, *sizes), decoder_class(11, *sizes))
    model.build(((None, None), (None, None)))
    model.set_weights(twin.get_weights())
    batch = make_batch()
    value = float(TranslationLoss(model, 0.1, num_sampled=5)(*batch, SEED))
    expected = float(reference_loss(model(batch[:2]), batch[2], 0.1))
    assert value == pytest.approx(expected, rel=1e-5)
    assert value != pytest.approx(float(reference_loss(twin(batch[:2]), batch[2], 0.1)), rel=1e-2)
