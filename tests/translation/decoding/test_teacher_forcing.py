import numpy as np
import tensorflow as tf
from small_models import Blind, strong, with_kinds

from keras_attn import Decoder
from keras_attn.translation.decoding.teacher_forcing import log_probabilities, read
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID

SOURCES = np.array([[4, 9, EOS_ID, 0], [7, EOS_ID, 0, 0], [12, 5, 5, EOS_ID]], np.int32)
TARGETS = np.array([[5, 6, EOS_ID], [EOS_ID, 0, 0], [8, EOS_ID, 0]], np.int32)


def test_log_probability_is_the_sum_over_the_tokens_and_logits_are_those_of_the_row(tiny_model):
    sources, targets = tf.constant(SOURCES), tf.constant(TARGETS)
    sums = log_probabilities(tiny_model, sources, targets)
    logits = read(tiny_model, sources, targets).logits
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        source, target = ([i for i in ids if i != PAD_ID] for ids in (source, target))
        alone = tiny_model((np.array([source]), np.array([[BOS_ID, *target[:-1]]])))[0]
        np.testing.assert_allclose(logits[row, : len(target)], alone, rtol=1e-4, atol=1e-4)
        costs = tf.nn.log_softmax(tf.cast(alone, tf.float64)).numpy()
        np.testing.assert_allclose(sums[row], costs[range(len(target)), target].sum(), rtol=1e-4)


def test_attention_is_that_of_every_layer_and_zero_for_padding():
    model = strong(2, 2)
    reading = read(model, tf.constant(SOURCES), tf.constant(TARGETS))
    _, by_layer = model((SOURCES[:1], np.array([[BOS_ID, 5, 6]])), return_attention_scores=True)
    for weights, name, queries, keys in (
        (reading.cross, "decoder/block_{}/cross_attention", TARGETS, SOURCES),
        (reading.encoder, "encoder/block_{}/self_attention", SOURCES, SOURCES),
        (reading.decoder, "decoder/block_{}/self_attention", TARGETS, TARGETS),
    ):
        weights = weights.numpy()
        assert weights.shape == (3, 2, 2, queries.shape[1], keys.shape[1])
        for row in range(3):
            num_queries, num_keys = ((ids[row] != PAD_ID).sum() for ids in (queries, keys))
            np.testing.assert_allclose(weights[row, :, :, :num_queries].sum(-1), 1, rtol=1e-5)
            assert not weights[row, :, :, num_queries:].any()
            assert not weights[row, ..., num_keys:].any()
        for layer in range(2):
            np.testing.assert_allclose(
                weights[0, layer], by_layer[name.format(layer)][0], rtol=1e-4, atol=1e-6
            )
    later = np.triu(np.ones((3, 3), bool), 1)
    assert not reading.decoder.numpy()[..., later].any()


def test_weights_that_a_model_does_not_return_are_none(tiny_model):
    blind = with_kinds(tiny_model, Blind, Decoder)
    found = read(blind, tf.constant(SOURCES), tf.constant(TARGETS))
    assert found.cross is found.encoder is found.decoder is None
