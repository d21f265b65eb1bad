import numpy as np
import tensorflow as tf
from small_models import strong

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.teacher_forcing import (
    forward_with_attention,
    likeliest_tokens,
    log_probabilities,
)
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID

SOURCES = np.array([[4, 9, EOS_ID, 0], [7, EOS_ID, 0, 0], [12, 5, 5, EOS_ID]], np.int32)
TARGETS = np.array([[5, 6, EOS_ID], [EOS_ID, 0, 0], [8, EOS_ID, 0]], np.int32)


def test_log_probability_is_the_sum_over_the_tokens_and_logits_are_those_of_the_row(tiny_model):
    sources, targets = tf.constant(SOURCES), tf.constant(TARGETS)
    sums = log_probabilities(tiny_model, sources, targets)
    logits = forward_with_attention(tiny_model, sources, targets).logits
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        source, target = ([i for i in ids if i != PAD_ID] for ids in (source, target))
        alone = tiny_model((np.array([source]), np.array([[BOS_ID, *target[:-1]]])))[0]
        np.testing.assert_allclose(logits[row, : len(target)], alone, rtol=1e-4, atol=1e-4)
        costs = tf.nn.log_softmax(tf.cast(alone, tf.float64)).numpy()
        np.testing.assert_allclose(sums[row], costs[range(len(target)), target].sum(), rtol=1e-4)


def test_attention_is_that_of_every_layer_and_zero_for_padding():
    model = strong(2, 2)
    forward = forward_with_attention(model, tf.constant(SOURCES), tf.constant(TARGETS))
    _, by_layer = model((SOURCES[:1], np.array([[BOS_ID, 5, 6]])), return_attention_scores=True)
    for weights, name, queries, keys in (
        (forward.cross, "decoder/block_{}/cross_attention", TARGETS, SOURCES),
        (forward.encoder, "encoder/block_{}/self_attention", SOURCES, SOURCES),
        (forward.decoder, "decoder/block_{}/self_attention", TARGETS, TARGETS),
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
    assert not forward.decoder.numpy()[..., later].any()


# Two sources and targets, the second with placeholder 4 of the placeholders 4 and 5.
SIDES = [[9, 7, EOS_ID], [4, EOS_ID, 0]], [[8, 6, EOS_ID], [4, EOS_ID, 0]]
# Ids 0 to 8; the forbidden ids 0 to 2 are the likeliest.
ROW = np.array([0.2, 0.19, 0.18, 0.05, 0.12, 0.11, 0.09, 0.04, 0.02], np.float32)
PROBABILITIES = tf.constant(np.tile(ROW, (2, 3, 1)))


def find(placeholder_ids=(4, 5), **settings):
    config = Config(max_length=20, **settings)
    sides = map(tf.constant, SIDES)
    found = likeliest_tokens(PROBABILITIES, *sides, config, 3, placeholder_ids)
    return [part.numpy() for part in found]


def test_forbidden_tokens_and_placeholders_that_may_not_come_are_skipped():
    tokens, probabilities = find()
    assert tokens[0].tolist() == [[6, 7, 8], *[[6, 3, 7]] * 2]  # no placeholders in the source
    # The placeholder of the source once, before the end; nothing for padding.
    assert tokens[1].tolist() == [[4, 6, 7], [6, 3, 7], [0, 0, 0]]
    np.testing.assert_array_equal(probabilities, np.where(tokens == PAD_ID, 0, ROW[tokens]))
    tokens, _ = find(placeholder_ids=())
    assert tokens[0].tolist() == [[4, 5, 6]] * 3
    tokens, _ = find(allow_unk=True)
    assert tokens[0, 0].tolist() == [1, 6, 7]


def test_the_end_obeys_the_limits_of_the_length():
    # At most 1 token and 0.5 tokens of source tokens more: 2 and 2.
    tokens, probabilities = find(max_length_ratio=0.5, max_length_extra=1)
    assert tokens[0].tolist() == [[6, 7, 8], [6, 3, 7], [EOS_ID, 0, 0]]
    assert probabilities[0, 2].tolist() == [ROW[EOS_ID], 0, 0]
    tokens, _ = find(min_length_ratio=0.7)  # 2 and 1
    assert tokens[0].tolist() == [[6, 7, 8], [6, 7, 8], [6, 3, 7]]
    assert tokens[1, 0].tolist() == [4, 6, 7]
