"""Squared Euclidean distances by matrix products, without cancellation."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import backend, ops

from keras_attn.heads import match_batch, times_transposed

# A table of exact powers of two: `2.0**n` is not exact on every device.
LOWEST_POWER = -90
POWERS = 2.0 ** np.arange(LOWEST_POWER, 128)


def squared_distances(query: Any, key: Any) -> Any:
    """Squared distance `|q - k|^2` of each query and key, about as exact as from `q - k`.

    The distances are computed by three matrix products with inner sizes `D`, `2D` and `3D`, without
    a tensor of shape `(T, S, D)`. The usual formula `|q|^2 - 2 q . k + |k|^2` subtracts large
    numbers to get a small one. For points 1000 from the origin and 1 apart, no digit is correct in
    float32. Here each point is split into `x = a + b + c` (`split_digits`). `a` and `b` have so few
    digits that sums of products are exact:

    `|q - k|^2 = |a_q - a_k|^2 + 2 (a_q - a_k) . (b_q - b_k) + rest`

    The first two terms are exact, and the rest is so small that rounding does not matter. Unlike
    after subtraction of a common centre, the distance of two points does not depend on other
    points. Gradients are sums of points and rounded like the points.

    Args:
        query: Queries, floats `(B, T, D)`.
        key: Keys, floats `(B, S, D)`; batch size `B` or 1.

    Returns:
        Squared distances `(B, T, S)`. The dtype is float64 for float64 inputs, else float32:
        squares overflow float16.

    Example:

    >>> points = ops.convert_to_tensor([[[1000.0, 2000.0], [1000.5, 2000.0]]])
    >>> np.asarray(squared_distances(points, points)).tolist()
    [[[0.0, 0.25], [0.25, 0.0]]]
    """
    q_a, q_b, q_c = split_digits(query)
    k_a, k_b, k_c = split_digits(key)
    q_ab, k_ab = q_a + q_b, k_a + k_b
    exact = _from_products(_dot(q_a, q_a), _dot(k_a, k_a), [q_a], [k_a])
    cross = _from_products(2.0 * _dot(q_a, q_b), 2.0 * _dot(k_a, k_b), [q_a, q_b], [k_b, k_a])
    # With `ab = a + b`: 2 (ab_q - ab_k) . (c_q - c_k) + |c_q - c_k|^2 + |b_q - b_k|^2.
    rest = _from_products(
        2.0 * _dot(q_ab, q_c) + _dot(q_c, q_c) + _dot(q_b, q_b),
        2.0 * _dot(k_ab, k_c) + _dot(k_c, k_c) + _dot(k_b, k_b),
        [q_ab, q_c, q_b],
        [k_c, k_ab + k_c, k_b],
    )
    return (exact + cross) + rest


def split_digits(x: Any) -> tuple[Any, Any, Any]:
    """Split `x` into a sum of three tensors `a + b + c`.

    `a` has the leading digits of `x`, `b` the following digits and `c` the rest. `a` and `b` have
    so few digits that a sum over `D` of products of two of them is exact. Digits are counted from
    the largest feature of a point. Only `c` has a gradient: `a` and `b` are step functions.
    """
    is_double = backend.standardize_dtype(x.dtype) == "float64"
    x = x if is_double else ops.cast(x, "float32")
    digits = ((53 if is_double else 24) - 1 - int(np.ceil(np.log2(x.shape[-1])))) // 2
    # `initial` is needed because Keras refuses the maximum of an empty tensor.
    largest = ops.max(ops.abs(ops.stop_gradient(x)), axis=-1, keepdims=True, initial=0.0)
    exponent = ops.cast(ops.floor(ops.log2(largest)), "int32") + 1 - digits
    # Clipped as integers: the logarithms of 0, infinity and NaN give arbitrary exponents.
    index = ops.clip(exponent - LOWEST_POWER, digits, len(POWERS) - 1)
    parts = []
    rest = x
    for step in (0, digits):
        grid = ops.take(ops.convert_to_tensor(POWERS, x.dtype), index - step)
        parts.append(ops.stop_gradient(ops.round(rest / grid) * grid))
        rest = rest - parts[-1]
    return (*parts, rest)


def _dot(x, y):
    return ops.sum(x * y, axis=-1)


def _from_products(query_terms, key_terms, query_parts, key_parts):
    """`query_terms + key_terms - 2 * (query_parts . key_parts)`, of shape `(B, T, S)`."""
    queries = -2.0 * ops.concatenate(query_parts, axis=-1)
    keys = match_batch(ops.concatenate(key_parts, axis=-1), queries)
    products = times_transposed(queries, keys)
    return query_terms[:, :, None] + key_terms[:, None, :] + products
