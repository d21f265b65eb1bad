import numpy as np
import pytest
import tensorflow as tf

from keras_attn.serving.binary_data import split, to_array, to_bytes
from keras_attn.serving.errors import RequestError


@pytest.mark.parametrize("values", [["犬".encode(), b"", b"\0"], []])
def test_strings_come_back(values):
    array = np.empty(len(values), object)
    array[:] = values
    assert to_array(to_bytes(array), tf.string).tolist() == values


@pytest.mark.parametrize("dtype", [tf.bool, tf.uint8, tf.int64, tf.float16, tf.float32])
def test_numbers_come_back(dtype):
    array = np.array([1, 0, 1], dtype.as_numpy_dtype)
    found = to_array(to_bytes(array), dtype)
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype


@pytest.mark.parametrize(
    ("data", "dtype"),
    [(b"abc", tf.float32), (b"abc", tf.string), (b"\x04\0\0\0abc", tf.string)],
)
def test_data_that_are_cut_off_are_refused(data, dtype):
    with pytest.raises(RequestError, match="end within a"):
        to_array(data, dtype)


def test_the_header_divides_the_body():
    assert split(b"{}abc", "2") == (b"{}", b"abc")
    assert split(b"{}", None) == (b"{}", b"")


@pytest.mark.parametrize("size", ["-1", "6", "two", "\u0662", "9" * 5000, ""])
def test_a_header_that_is_no_size_is_refused(size):
    with pytest.raises(RequestError, match="must be the size of the JSON"):
        split(b"{}abc", size)
