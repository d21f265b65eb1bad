"""Products of tensors `(B, H, T, K)`."""

from collections.abc import Callable
from typing import Any

from keras import ops

from keras_attn.layers.precision import matmul

# Up to this number of queries, such as in decoding, transposing the scores is faster than `einsum`.
FEW_ROWS = 8


def match_batch(x: Any, other: Any) -> Any:
    """`x` repeated to the batch size of `other` if the batch size of `x` is 1.

    `matmul` of rank 4 must not broadcast: on TensorFlow with oneDNN the result is wrong
    (tensorflow/tensorflow#123109). Nothing is repeated if the batch sizes are known to be equal.

    Args:
        x: Tensor `(B, ...)` or `(1, ...)`.
        other: Tensor `(B, ...)`.
    """
    is_known = isinstance(x.shape[0], int) and x.shape[0] != 1
    if is_known or x.shape[0] == other.shape[0] == 1:
        return x
    return ops.broadcast_to(x, (ops.shape(other)[0], *ops.shape(x)[1:]))


def times_transposed(left: Any, right: Any) -> Any:
    """`left @ right^T` of rank 3 or 4 without a copy of `right^T`.

    `ops.matmul` would need the copy in eager mode, for gradients and under XLA.
    """
    num_rows = left.shape[-2]
    if isinstance(num_rows, int) and num_rows <= FEW_ROWS:
        return ops.swapaxes(matmul(right, ops.swapaxes(left, -1, -2)), -1, -2)
    # Without `optimize`, Keras transposes on TensorFlow too.
    equation = "bhtx,bhsx->bhts" if len(left.shape) == 4 else "btx,bsx->bts"
    return ops.einsum(equation, left, right, optimize="greedy")


def multiply(left: Any, right: Any, product: Callable[[Any, Any], Any] = matmul) -> Any:
    """`left @ right`, one key-value head of `right` for each group of heads of `left`.

    Args:
        left: `(B, H, T, X)`.
        right: `(B, G, X, Y)`, `G` a divisor of `H`.
        product: Another product of tensors of rank 4. Defaults to `matmul`.

    Returns:
        `(B, H, T, Y)`.
    """
    num_heads, num_groups = left.shape[1], right.shape[1]
    if num_heads == num_groups:
        return product(left, right)
    batch_size, _, num_queries, _ = ops.shape(left)
    rows = product(as_groups(left, num_groups), right)
    return ops.reshape(rows, (batch_size, num_heads, num_queries, ops.shape(rows)[-1]))


def multiply_by_matrix(x: Any, matrix: Any) -> Any:
    """`x @ matrix` of `(B, H, T, X)` and `(X, Y)`, as a product of two matrices."""
    *lead, size = ops.shape(x)
    rows = ops.reshape(x, (lead[0] * lead[1] * lead[2], size))
    return ops.reshape(matmul(rows, matrix), (*lead, ops.shape(matrix)[-1]))


def as_groups(x: Any, num_groups: int) -> Any:
    """`(B, H, T, X)` as `(B, G, H/G * T, X)`: joins the heads that share a key-value head."""
    batch_size, num_heads, num_queries, size = ops.shape(x)
    return ops.reshape(x, (batch_size, num_groups, num_heads // num_groups * num_queries, size))
