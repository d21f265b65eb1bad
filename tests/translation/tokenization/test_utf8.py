import numpy as np
import tensorflow as tf

from keras_attn.translation.tokenization import utf8
from keras_attn.translation.tokenization.utf8 import NONE


def test_characters_at_the_borders_are_encoded_as_by_python_and_read_back():
    code_points = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
    found = utf8.encode(tf.constant(code_points)).numpy()
    for code_point, row in zip(code_points, found, strict=True):
        data = bytes(row[row != NONE].astype(np.uint8))
        assert data == chr(code_point).encode()
        read, lengths = utf8.characters(tf.constant([[*data, NONE]]))
        assert (read[0, 0], lengths[0, 0]) == (code_point, len(data))
