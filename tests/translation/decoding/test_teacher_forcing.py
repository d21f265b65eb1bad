import numpy as np
import tensorflow as tf
from small_models import strong

from keras_attn import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.beam_search import length_penalty
from keras_attn.translation.decoding.limits import num_tokens
from keras_attn.translation.decoding.search import best_translations
from keras_attn.translation.decoding.teacher_forcing import log_probabilities, read
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID

SOURCES = np.array([[4, 9, EOS_ID, 0], [7, EOS_ID, 0, 0], [12, 5, 5, EOS_ID]], np.int32)
TARGETS = np.array([[5, 6, EOS_ID], [EOS_ID, 0, 0], [8, EOS_ID, 0]], np.int32)


def log_softmax(logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def test_log_probability_is_the_sum_over_the_tokens_and_logits_are_those_of_the_row(tiny_model):
    sources, targets = tf.constant(SOURCES), tf.constant(TARGETS)
    sums = log_probabilities(tiny_model, sources, targets)
    logits = read(tiny_model, sources, targets).logits
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        source, target = ([i for i in ids if i != PAD_ID] for ids in (source, target))
        alone = tiny_model((np.array([source]), np.array([[BOS_ID, *target[:-1]]])))[0]
        np.testing.assert_allclose(logits[row, : len(target)], alone, rtol=1e-4, atol=1e-4)
        costs = log_softmax(np.asarray(alone, np.float64))
        np.testing.assert_allclose(sums[row], costs[range(len(target)), target].sum(), rtol=1e-4)


def test_search_gives_the_score_that_forced_decoding_gives(tiny_model):
    config = Config(max_pieces=5, length_penalty=0.6, beam_size=3)
    found = best_translations(tiny_model, tf.constant(SOURCES), config, num_best=3)
    for n in range(3):
        tokens = found.tokens[:, n]
        lengths = num_tokens(tokens)
        at_end = tf.range(tf.shape(tokens)[1] + 1) == lengths[:, None]
        with_end = tf.where(at_end, EOS_ID, tf.pad(tokens, [[0, 0], [0, 1]]))
        forced = log_probabilities(tiny_model, tf.constant(SOURCES), with_end)
        np.testing.assert_allclose(
            found.scores[:, n], forced / length_penalty(lengths + 1, 0.6), rtol=1e-3
        )


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


class Quiet(Transformer):
    """Transformer that returns the cross-attention weights only."""

    def call(self, inputs, return_attention_scores=False, training=None):
        found = super().call(inputs, return_attention_scores, training)
        if not return_attention_scores:
            return found
        logits, weights = found
        return logits, {name: one for name, one in weights.items() if "cross" in name}


def test_weights_that_a_model_does_not_return_are_none(tiny_model):
    quiet = Quiet.from_config(tiny_model.get_config())
    quiet.build(((None, None), (None, None)))
    quiet.set_weights(tiny_model.get_weights())
    ids = tf.constant(SOURCES), tf.constant(TARGETS)
    expected, found = (read(model, *ids) for model in (tiny_model, quiet))
    assert found.encoder is None and found.decoder is None
    np.testing.assert_allclose(found.cross, expected.cross)
