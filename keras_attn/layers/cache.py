"""Cache of projected keys and values, for decoding step by step."""

from __future__ import annotations

import functools
import numbers
from typing import Any

import keras
from keras import ops


def empty_cache(
    batch_size: Any, length: Any, num_kv_heads: int, sizes: dict[str, int], dtype: str
) -> dict[str, Any]:
    """Return an empty cache.

    Args:
        batch_size: `B`.
        length: `L`, number of positions.
        num_kv_heads: `G`.
        sizes: Features of a head: `{"key": K, "value": V}`.
        dtype: Dtype of keys and values.

    Returns:
        `{"key": (B, G, L, K), "value": (B, G, L, V), "mask": (B, L)}`; the mask is boolean, True =
        may be attended.
    """
    shape = (batch_size, num_kv_heads, length)
    cache = {name: ops.zeros((*shape, size), dtype) for name, size in sizes.items()}
    return {**cache, "mask": ops.zeros((batch_size, length), "bool")}


def write_cache(
    cache: dict[str, Any], new: dict[str, Any], start: Any, *masks: Any
) -> dict[str, Any]:
    """Return a cache with new keys, values and their mask written at `start`.

    Args:
        cache: `{"key": (B, G, L, K), "value": (B, G, L, V)}`, optionally with `"mask": (B, L)`.
        new: `{"key": (B, G, T, K), "value": (B, G, T, V)}`.
        start: Position of the first new key.
        *masks: Boolean masks `(B, T)` of the new keys, True = may attend, or None.
    """
    written = {
        name: _write(cache[name], ops.cast(part, cache[name].dtype), _indices(0, 0, start, 0))
        for name, part in new.items()
    }
    given = [ops.cast(mask, "bool") for mask in masks if mask is not None]
    if given or "mask" in cache:
        everywhere, attended = (
            ops.ones((ops.shape(x["key"])[0], ops.shape(x["key"])[2]), "bool") for x in (cache, new)
        )
        attended = functools.reduce(ops.logical_and, given, attended)
        # As integers: not every backend updates slices of booleans.
        old, attended = (ops.cast(x, "int32") for x in (cache.get("mask", everywhere), attended))
        written["mask"] = ops.cast(ops.slice_update(old, _indices(0, start), attended), "bool")
    return written


def _indices(*indices):
    """Indices of a slice in one dtype: JAX with 64 bits refuses to mix them."""
    return ops.stack([ops.cast(index, "int32") for index in indices])


def _write(old, new, first):
    """`ops.slice_update` with a gradient, which TensorFlow's has not."""
    if keras.backend.backend() != "tensorflow":
        return ops.slice_update(old, first, new)

    @ops.custom_gradient
    def write(old, new):
        def gradient(upstream):
            kept = ops.slice_update(upstream, first, ops.zeros_like(new))
            return kept, ops.slice(upstream, first, ops.shape(new))

        return ops.slice_update(old, first, new), gradient

    return write(old, new)


def check_cache(
    cache: Any, batch_size: Any, num_kv_heads: int, sizes: dict[str, int], is_memory: bool
) -> None:
    """Check the names and shapes of a cache.

    Args:
        cache: Cache as passed by the user.
        batch_size: `B` of the queries, or None.
        num_kv_heads: `G`.
        sizes: Features of a head: `{"key": K, "value": V}`.
        is_memory: Whether nothing is written to the cache; a batch size of 1 then broadcasts.

    Raises:
        ValueError: If a name is missing or a known size differs.
    """
    shapes = cache
    if isinstance(cache, dict):
        shapes = {name: tuple(part.shape) for name, part in cache.items()}
    if not isinstance(cache, dict) or not (
        set(shapes) - {"mask"} == set(sizes)
        and all(_fits(shapes[name], (None, num_kv_heads, None, sizes[name])) for name in sizes)
    ):
        raise ValueError(
            "`cache` must be a dict of `key` and `value`, each of shape "
            f"(B, {num_kv_heads}, L, {sizes['key']}), as make_cache and project_memory return it. "
            f"Received: cache={shapes!r} (shapes)."
        )
    rows = shapes["key"][0]
    if not _fits((rows,), (batch_size,)) and not (is_memory and rows == 1):
        raise ValueError(
            f"`cache` must have the batch size of the queries, {batch_size}. "
            f"Received: cache={shapes!r} (shapes)."
        )


def _fits(shape: tuple, expected: tuple) -> bool:
    return len(shape) == len(expected) and all(
        a == b or not (isinstance(a, int) and isinstance(b, int))
        for a, b in zip(shape, expected, strict=True)
    )


def check_room(cache: dict[str, Any], key: Any, start: Any) -> None:
    """Check that new keys fit into a cache, as far as sizes and `start` are known.

    Raises:
        ValueError: If they do not.
    """
    length, new = cache["key"].shape[2], key.shape[1]
    # `slice_update` past the end would move to the left and overwrite earlier keys.
    is_known = isinstance(start, numbers.Integral) and None not in (length, new)
    if is_known and start + new > length:
        raise ValueError(
            "`cache` must be long enough for the keys written at `start`. "
            f"Received: start={start}, key.shape[1]={new}, a cache of length {length}. "
            f"Make it with make_cache(batch_size, length={start + new})."
        )
