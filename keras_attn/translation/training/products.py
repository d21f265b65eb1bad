"""Product of rows with a kernel, with its gradients, in float32 or bfloat16."""

from __future__ import annotations

import tensorflow as tf


@tf.custom_gradient
def product(rows: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor):
    """`rows @ kernel + bias`, `(N, C)`, in the dtype of `rows` and `kernel`; `bias` is float32."""
    made = tf.nn.bias_add(tf.matmul(rows, kernel), tf.cast(bias, rows.dtype))

    def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        return gradients_of_product(rows, kernel, upstream)

    return made, gradient


def gradients_of_product(
    rows: tf.Tensor, kernel: tf.Tensor, upstream: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Gradients of `product` for `rows`, `kernel` and `bias`, each in the dtype of its tensor."""
    # The bias gradient is a product with ones: `tf.reduce_sum` over rows is slow in bfloat16.
    ones = tf.ones(tf.stack([1, tf.shape(upstream)[0]]), upstream.dtype)
    return (
        tf.matmul(upstream, kernel, transpose_b=True),
        tf.matmul(rows, upstream, transpose_a=True),
        tf.cast(tf.matmul(ones, upstream)[0], tf.float32),
    )
