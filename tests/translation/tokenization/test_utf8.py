import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.tokenization import utf8
from keras_attn.translation.tokenization.utf8 import NONE, REPLACEMENT


def read(data):
    """The characters of some bytes, from one to the next, and the bytes of each."""
    found = utf8.characters(tf.constant([[*data, NONE]]))
    place, characters = 0, []
    while place < len(data):
        characters.append((int(found.code_points[0, place]), int(found.num_bytes[0, place])))
        place += characters[-1][1]
    return characters


def by_hand(data):
    """Characters by Python's strict decoder, with a replacement for each invalid byte."""
    place, characters = 0, []
    while place < len(data):
        for size in range(1, 5):
            try:
                character = data[place : place + size].decode("utf-8")
            except UnicodeDecodeError:
                continue
            characters.append((ord(character), size))
            break
        else:
            characters.append((REPLACEMENT, 1))
        place += characters[-1][1]
    return characters


AWKWARD = st.sampled_from([0x41, 0x80, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xA0, 0x9F, 0xF0, 0x90, 0xF4])


BYTES = st.lists(AWKWARD | st.integers(0, 255), max_size=12).map(bytes)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20).map(str.encode) | BYTES)
def test_text_is_read_by_characters_and_what_is_none_is_replaced_byte_by_byte(data):
    assert read(data) == by_hand(data)


def test_encoding_is_that_of_python_at_the_borders():
    code_points = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
    found = utf8.encode(tf.constant(code_points)).numpy()
    for code_point, row in zip(code_points, found, strict=True):
        assert bytes(row[row != NONE].astype(np.uint8)) == chr(code_point).encode()
