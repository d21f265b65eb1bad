"""Cache of projected keys and values, for decoding step by step."""

import functools
import numbers
from typing import Any

import keras
from keras import ops

from keras_attn.layers.masks import fits


def empty_cache(
    batch_size: Any, length: Any, num_kv_heads: int, sizes: dict[str, int], dtype: str
) -> dict[str, Any]:
    """Return an empty cache of `length` positions for heads of sizes `{"key": K, "value": V}`.

    It is `{"key": (B, G, L, K), "value": (B, G, L, V), "mask": (B, L)}`; in the boolean mask, True
    = attend.
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
        *masks: Boolean masks `(B, T)` of the new keys, True = attend, or None.
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
    """Check the names and the known sizes of a cache.

    A memory, to which nothing is written, may have a batch size of 1.
    """
    is_dict = isinstance(cache, dict)
    shapes = {name: tuple(part.shape) for name, part in cache.items()} if is_dict else cache
    has_names = is_dict and set(shapes) - {"mask"} == set(sizes)
    if not has_names or not all(
        fits(shapes[name], (None, num_kv_heads, None, size)) for name, size in sizes.items()
    ):
        raise ValueError(
            "`cache` must be a dict of `key` and `value`, each of shape "
            f"(B, {num_kv_heads}, L, {sizes['key']}), as make_cache and project_memory return it. "
            f"Received: cache={shapes!r} (shapes)."
        )
    if not fits(shapes["key"][:1], (batch_size,), broadcasts=is_memory):
        raise ValueError(
            f"`cache` must have the batch size of the queries, {batch_size}. "
            f"Received: cache={shapes!r} (shapes)."
        )


def check_room(cache: dict[str, Any], key: Any, start: Any) -> None:
    """Check that new keys fit into a cache, as far as sizes and `start` are known."""
    length, new = cache["key"].shape[2], key.shape[1]
    # `slice_update` past the end would move to the left and overwrite earlier keys.
    is_known = isinstance(start, numbers.Integral) and None not in (length, new)
    if is_known and start + new > length:
        raise ValueError(
            "`cache` must be long enough for the keys written at `start`. "
            f"Received: start={start}, key.shape[1]={new}, a cache of length {length}. "
            f"Make it with make_cache(batch_size, length={start + new})."
        )
