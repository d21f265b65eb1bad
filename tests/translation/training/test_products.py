import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.training.products import product


@pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-5), ("bfloat16", 0.05)])
def test_value_and_gradients_are_those_of_a_product_and_a_sum(dtype, error):
    random = np.random.default_rng(1)
    rows, kernel, bias, along = (
        tf.constant(random.normal(size=shape), tf.float32)
        for shape in ((6, 4), (4, 3), (3,), (6, 3))
    )
    with tf.GradientTape() as tape:
        tape.watch([rows, kernel, bias])
        made = product(tf.cast(rows, dtype), tf.cast(kernel, dtype), bias)
        value = tf.reduce_sum(tf.cast(made, tf.float32) * along)
    gradients = tape.gradient(value, [rows, kernel, bias])
    assert made.dtype == dtype
    np.testing.assert_allclose(tf.cast(made, tf.float32), rows @ kernel + bias, atol=10 * error)
    expected = (
        along @ tf.transpose(kernel),
        tf.transpose(rows) @ along,
        tf.reduce_sum(along, axis=0),
    )
    for mine, reference in zip(gradients, expected, strict=True):
        assert mine.dtype == tf.float32
        np.testing.assert_allclose(mine, reference, atol=error * float(tf.norm(reference)))
