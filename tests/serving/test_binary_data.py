import numpy as np
import pytest
import tensorflow as tf

from keras_attn.serving.binary_data import split, to_array, to_bytes
from keras_attn.serving.errors import RequestError


def test_strings_and_numbers_come_back():
    for values in (["犬".encode(), b"", b"\0"], []):
        array = np.empty(len(values), object)
        array[:] = values
        assert to_array(to_bytes(array), tf.string).tolist() == values
    for dtype in (tf.bool, tf.uint8, tf.int64, tf.float16, tf.float32):
        array = np.array([1, 0, 1], dtype.as_numpy_dtype)
        found = to_array(to_bytes(array), dtype)
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype


def test_data_that_are_cut_off_are_refused():
    for data, dtype in ((b"abc", tf.float32), (b"abc", tf.string), (b"\x04\0\0\0abc", tf.string)):
        with pytest.raises(RequestError, match="end within a"):
            to_array(data, dtype)


def test_the_header_divides_the_body_if_it_is_a_size():
    assert split(b"{}abc", "2") == (b"{}", b"abc")
    assert split(b"{}", None) == (b"{}", b"")
    for size in ("-1", "6", "two", "\u0662", "9" * 5000, ""):
        with pytest.raises(RequestError, match="must be the size of the JSON"):
            split(b"{}abc", size)
