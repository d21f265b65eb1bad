import numpy as np
import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.alternatives import likeliest_tokens
from keras_attn.translation.special_ids import EOS_ID, PAD_ID

# Two sources, the second with slot 4 of the slots 4 and 5.
SOURCES = tf.constant([[9, 7, EOS_ID], [4, EOS_ID, 0]])
TARGETS = tf.constant([[8, 6, EOS_ID], [4, EOS_ID, 0]])
# Ids 0 to 8; the forbidden ids 0 to 2 are the likeliest.
ROW = np.array([0.2, 0.19, 0.18, 0.05, 0.12, 0.11, 0.09, 0.04, 0.02], np.float32)
PROBABILITIES = tf.constant(np.tile(ROW, (2, 3, 1)))


def find(slot_ids=(4, 5), **settings):
    config = Config(max_length=20, **settings)
    found = likeliest_tokens(PROBABILITIES, SOURCES, TARGETS, config, 3, slot_ids)
    return [part.numpy() for part in found]


def test_forbidden_tokens_and_slots_that_may_not_come_are_skipped():
    tokens, probabilities = find()
    assert tokens[0].tolist() == [[6, 3, 7]] * 3  # no slots in the source
    # The slot of the source once; nothing for padding.
    assert tokens[1].tolist() == [[4, 6, 3], [6, 3, 7], [0, 0, 0]]
    np.testing.assert_array_equal(probabilities, np.where(tokens == PAD_ID, 0, ROW[tokens]))
    tokens, _ = find(slot_ids=())
    assert tokens[0].tolist() == [[4, 5, 6]] * 3
    tokens, _ = find(allow_unk=True)
    assert tokens[0, 0].tolist() == [1, 6, 3]


def test_the_end_obeys_the_limits_of_the_length():
    # At most 1 token and 0.5 tokens of source tokens more: 2 and 2.
    tokens, probabilities = find(max_length_ratio=0.5, max_length_extra=1)
    assert tokens[0].tolist() == [[6, 3, 7], [6, 3, 7], [EOS_ID, 0, 0]]
    assert probabilities[0, 2].tolist() == [ROW[EOS_ID], 0, 0]
    tokens, _ = find(min_length_ratio=0.7)  # 2 and 1
    assert tokens[0].tolist() == [[6, 7, 8], [6, 7, 8], [6, 3, 7]]
    assert tokens[1, 0].tolist() == [4, 6, 7]
