"""Greedy search as the textbook has it, for comparison."""

import numpy as np

from keras_attn.translation.decoding.constraints import FORBIDDEN_IDS
from keras_attn.translation.special_ids import BOS_ID, EOS_ID


def greedy(model, source, max_length):
    """Greedy translation of the ids of one source; the whole target again for each token."""
    limit = min(2 * len(source) + 10, max_length)
    said = []
    while len(said) < limit:
        logits = model((np.array([source]), np.array([[BOS_ID, *said]]))).numpy()[0, -1]
        logits[list(FORBIDDEN_IDS)] = -np.inf
        if (token := int(logits.argmax())) == EOS_ID:
            break
        said.append(token)
    return said
