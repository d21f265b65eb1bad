"""Dtypes of intermediate results, and operations that keep float64 on every backend."""

from typing import Any

from keras import backend, ops


def precise_dtype(dtype: Any) -> str:
    """Return float64 for float64, else float32: the dtype of sums, angles and tables."""
    return "float64" if backend.standardize_dtype(dtype) == "float64" else "float32"


def score_dtype(dtype: Any) -> str:
    """Return float32 for float16, which ends at 65504, else the dtype itself."""
    dtype = backend.standardize_dtype(dtype)
    return "float32" if dtype == "float16" else dtype


def matmul(left: Any, right: Any) -> Any:
    """Return `left @ right` of one rank; Keras on PyTorch multiplies float64 in float32."""
    if backend.backend() != "torch" or backend.standardize_dtype(left.dtype) != "float64":
        return ops.matmul(left, right)
    more = "bh"[: len(left.shape) - 2]
    return ops.einsum(f"{more}xy,{more}yz->{more}xz", left, right)


def mean(x: Any) -> Any:
    """Return the mean of the last axis, which is kept; that of Keras on PyTorch is float32."""
    return ops.sum(x, axis=-1, keepdims=True) / x.shape[-1]
