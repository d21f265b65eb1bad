"""Attention by the backend's own kernel, such as flash attention on an accelerator."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from keras_attn.heads import keep_finite, sees_any

# TensorFlow has no kernel: `ops.dot_product_attention` computes a softmax of all scores there.
BACKENDS_WITH_KERNELS = ("jax", "torch")


def can_fuse(queries: Any, keys: Any, values: Any) -> bool:
    """Whether the backend has a kernel for these tensors, and the user did not disable it.

    `keras.config.disable_flash_attention()` turns kernels off: those of PyTorch have no second
    derivative.

    Args:
        queries: `(B, H, T, K)`.
        keys: `(B, G, S, K)`.
        values: `(B, G, S, V)`; kernels take `V = K` alone.
    """
    sizes = (*queries.shape, *keys.shape, *values.shape)
    return (
        keras.backend.backend() in BACKENDS_WITH_KERNELS
        and keras.config.is_flash_attention_enabled() is not False
        and all(isinstance(size, int) and size > 0 for size in sizes)
        and keys.shape[-1] == values.shape[-1]
    )


def attend_fused(queries: Any, keys: Any, values: Any, mask: Any = None) -> Any:
    """Same sums as `heads.attend`, by `keras.ops.dot_product_attention`.

    Args:
        queries: Scaled queries `(B, H, T, K)`.
        keys: `(B, G, S, K)`, `G` a divisor of `H`.
        values: `(B, G, S, K)`.
        mask: Joined mask `(B, H, T, S)`, its sizes 1 where it broadcasts, or None.

    Returns:
        Sums `(B, H, T, K)`.
    """
    if mask is None:
        return _call_kernel(queries, keys, values, None)
    values, finite = keep_finite(values)
    sums = _call_kernel(queries, keys, values, mask)
    # Kernels give a query without keys the mean of all values.
    sums = ops.where(ops.any(mask, axis=-1, keepdims=True), sums, ops.zeros_like(sums))
    spoilt = sees_any(mask, ops.logical_not(finite))
    return ops.where(spoilt, ops.cast(float("nan"), sums.dtype), sums)


def _call_kernel(queries, keys, values, mask):
    by_position = (ops.swapaxes(x, 1, 2) for x in (queries, keys, values))
    return ops.swapaxes(ops.dot_product_attention(*by_position, mask=mask, scale=1.0), 1, 2)
