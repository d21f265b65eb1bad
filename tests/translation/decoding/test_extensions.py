import numpy as np
import tensorflow as tf

from keras_attn.translation.decoding.beams import Beam, Hypotheses, Rows
from keras_attn.translation.decoding.extensions import Extensions
from keras_attn.translation.special_ids import EOS_ID

B, K, V, C = 3, 2, 200, 5
SLOTS = (5, 6)


def state(step, log_probs, limits, minimums, scored=True):
    """Rows and a beam whose hypotheses may have the first of the slots."""
    left = np.broadcast_to([True, False], (B, K, len(SLOTS)))
    ended = Hypotheses(tf.zeros([B, K, C], tf.int32), tf.fill([B, K], -np.inf))
    beam = Beam(
        step=tf.constant(step),
        tokens=tf.zeros([B, K, C], tf.int32),
        log_probs=tf.constant(log_probs, tf.float32),
        slots_left=tf.constant(left),
        ancestors=tf.zeros([B, K, C], tf.int32),
        ended=ended,
        cache=(),
    )
    rows = Rows(
        num_best=tf.constant(1),
        scored=tf.constant(scored),
        index=tf.range(B),
        limits=tf.constant(limits),
        minimums=tf.constant(minimums),
        memory=(),
    )
    return rows, beam


def test_extensions_are_the_best_of_all_tokens_that_the_rules_allow():
    random = np.random.default_rng(0)
    logits = random.normal(0, 2, (B, K, V)).astype("float32")
    log_probs = random.normal(-3, 1, (B, K)).astype("float32")
    # The first row must end, the second must not, the third may.
    rows, beam = state(2, log_probs, limits=[2, 4, 4], minimums=[0, 3, 0])
    extend = Extensions(K, slot_ids=SLOTS, forbidden_ids=(0, 1))
    totals, parents, tokens = (x.numpy() for x in extend(rows, beam, tf.constant(logits), 4))

    expected = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)) + log_probs[..., None]
    expected[..., [0, 1, 6]] = -np.inf
    expected[0, :, np.arange(V) != EOS_ID] = -np.inf
    expected[1, :, EOS_ID] = -np.inf
    expected = expected.reshape(B, K * V)
    np.testing.assert_allclose(totals, -np.sort(-expected)[:, :4], rtol=1e-5)
    possible = np.isfinite(totals)
    assert possible.sum() == 2 + 4 + 4
    places = np.argsort(-expected)[:, :4]
    np.testing.assert_array_equal((parents * V + tokens)[possible], places[possible])


def test_only_log_probabilities_that_are_needed_are_computed():
    logits = np.random.default_rng(1).normal(0, 2, (B, 1, V)).astype("float32")
    share = np.exp(logits[:, 0]) / np.exp(logits[:, 0]).sum(axis=-1, keepdims=True)
    for scored, expected in ((True, np.log(share.max(axis=-1))), (False, np.zeros(B))):
        rows, beam = state(0, np.zeros((B, K)), limits=[9] * B, minimums=[0] * B, scored=scored)
        beam = beam._replace(log_probs=beam.log_probs[:, :1], tokens=beam.tokens[:, :1])
        extend = Extensions(1, forbidden_ids=(0,), can_omit_scores=True)
        totals, _, tokens = extend(rows, beam, tf.constant(logits), 1)
        np.testing.assert_array_equal(tokens, logits[:, 0].argmax(axis=-1)[:, None])
        np.testing.assert_allclose(totals[:, 0], expected, atol=1e-5)
