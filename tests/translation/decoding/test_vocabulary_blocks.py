import numpy as np
import tensorflow as tf

from keras_attn.translation.decoding.vocabulary_blocks import BLOCK, in_blocks, log_sum_exp


def test_blocks_hold_all_logits_and_their_sum():
    for size in (1, BLOCK - 1, BLOCK, 2 * BLOCK + 5):
        # A row of large logits, whose powers would overflow.
        logits = np.random.default_rng(size).normal(0, 1, (2, 3, size)).astype("float32")
        logits[1] *= 200
        blocks = in_blocks(tf.constant(logits))
        assert blocks.shape == (2, 3, -(-size // BLOCK), BLOCK)
        flat = np.reshape(blocks, (2, 3, -1))
        np.testing.assert_array_equal(flat[..., :size], logits)
        assert np.all(flat[..., size:] == -np.inf)
        found = log_sum_exp(blocks, tf.reduce_max(blocks, axis=-1))
        most = logits.max(-1, keepdims=True).astype(float)
        expected = most[..., 0] + np.log(np.exp(logits - most).sum(-1))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)
