"""Everything that hides keys from queries becomes one boolean mask; True = may attend.

Masks get new axes by `ops.expand_dims`: LiteRT does not convert the slices that TensorFlow makes of
`mask[:, None]` for booleans.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import ops

from keras_attn.checks import check_lengths, check_mask

# Possible axes of each argument of the attention call.
LAYOUTS = {
    "query": ("BTD",),
    "key": ("BSD",),
    "value": ("BSD",),
    "valid_lens": ("B", "BT"),
    "attention_mask": ("TS", "BTS", "BHTS"),
    "query_mask": ("BT",),
    "key_mask": ("BS",),
    "value_mask": ("BS",),
    # Of a block:
    "memory": ("BSD",),
    "memory_valid_lens": ("B", "BT"),
    "memory_mask": ("BS",),
}
FEATURES = ("query", "key", "value", "memory")  # these do not broadcast


def check_shapes(
    num_keys: int | None, num_heads: int | None = None, *, query: Any, **arguments: Any
) -> None:
    """Check that the known sizes of arguments of the attention call fit together.

    Args:
        num_keys: `S`, or None if it is known at run time only.
        num_heads: `H`, or None for a layer with one head.
        query: `(B, T, D)`.
        **arguments: Any of the other arguments in `LAYOUTS`, or None.

    Raises:
        ValueError: If one has another rank, or a size that differs (1 broadcasts for masks), or
            lengths are no integers in `[0, S]`, or a mask holds floats.
    """
    sizes = dict(zip("BT", query.shape, strict=False)) | {"S": num_keys, "H": num_heads}
    sizes = {letter: size for letter, size in sizes.items() if size is not None}
    for name, given in {"query": query, **arguments}.items():
        if given is None:
            continue
        shape = tuple(given.shape) if hasattr(given, "shape") else np.shape(given)
        layouts = LAYOUTS[name]
        layout = next((layout for layout in layouts if len(layout) == len(shape)), None)
        if layout is None or not all(
            size in (None, sizes.get(letter, size))
            or (size == 1 and (letter == "B" or name not in FEATURES))
            for letter, size in zip(layout, shape, strict=True)
        ):
            shapes = " or ".join(
                "(" + ", ".join(layout) + ("," if len(layout) == 1 else "") + ")"
                for layout in layouts
            )
            known = ", ".join(f"{letter}={size}" for letter, size in sizes.items())
            more_axes = name in FEATURES and len(shape) > 3
            hint = " Reshape it, or wrap the layer in keras.layers.TimeDistributed."
            raise ValueError(
                f"`{name}` must have shape {shapes}, here with {known}. "
                f"Received: {name}.shape={shape}.{hint if more_axes else ''}"
            )
        if name.endswith("valid_lens"):
            check_lengths(name, given, num_keys)
        elif name.endswith("_mask"):
            check_mask(name, given)


def lengths_mask(valid_lens: Any, num_keys: Any) -> Any:
    """Return the mask of the first `valid_lens` keys.

    Args:
        valid_lens: Integers of shape `(B,)`, or `(B, T)` with a length for each query.
        num_keys: `S`.

    Returns:
        Boolean tensor of shape `(B, 1, S)` or `(B, T, S)`.

    Raises:
        ValueError: If `valid_lens` has neither one nor two dimensions.
    """
    valid_lens = ops.cast(ops.convert_to_tensor(valid_lens), "int32")
    if len(valid_lens.shape) == 1:
        valid_lens = valid_lens[:, None]
    if len(valid_lens.shape) != 2:
        raise ValueError(
            "`valid_lens` must have shape (B,) or (B, T). "
            f"Received: valid_lens.shape={tuple(valid_lens.shape)}."
        )
    return ops.arange(num_keys, dtype="int32") < valid_lens[:, :, None]


def causal_mask(num_queries: Any, num_keys: Any, start: Any = 0) -> Any:
    """Return the mask under which query `i`, at position `start + i`, sees keys up to there.

    Returns:
        Boolean tensor of shape `(1, T, S)`.
    """
    queries = ops.arange(num_queries, dtype="int32") + ops.cast(start, "int32")
    return ops.arange(num_keys, dtype="int32")[None, None, :] <= queries[None, :, None]


def window_mask(num_queries: Any, num_keys: Any, window: int, start: Any = 0) -> Any:
    """Return the mask under which query `i`, at `start + i`, sees keys less than `window` away.

    Together with the causal mask a query sees `window` keys, its own among them.

    Returns:
        Boolean tensor of shape `(1, T, S)`.
    """
    queries = ops.arange(num_queries, dtype="int32") + ops.cast(start, "int32")
    keys = ops.arange(num_keys, dtype="int32")[None, None, :]
    return ops.abs(keys - queries[None, :, None]) < window


def join_masks(
    num_queries: Any,
    num_keys: Any,
    valid_lens: Any = None,
    attention_mask: Any = None,
    use_causal_mask: bool = False,
    query_mask: Any = None,
    key_mask: Any = None,
    value_mask: Any = None,
    start: Any = 0,
    window: int | None = None,
) -> Any:
    """Return one mask that holds everything given.

    Args:
        num_queries: `T`.
        num_keys: `S`.
        valid_lens: Integers `(B,)` or `(B, T)`: how many keys, from the first, may be attended.
        attention_mask: Boolean, broadcastable to `(B, T, S)` or `(B, H, T, S)`.
        use_causal_mask: Whether query `i` sees keys up to position `start + i` only.
        query_mask: Boolean `(B, T)`; a query that is False attends to nothing.
        key_mask: Boolean `(B, S)`.
        value_mask: Boolean `(B, S)`.
        start: Position of the first query among the keys.
        window: Smallest distance at which keys are hidden from a query, or None.

    Returns:
        Boolean tensor that broadcasts to `(B, T, S)`, or to `(B, H, T, S)` if `attention_mask`
        has four dimensions; None if nothing was given.

    Raises:
        ValueError: If `attention_mask` or `valid_lens` has a rank that means nothing.
    """
    parts = []
    if valid_lens is not None:
        parts.append(lengths_mask(valid_lens, num_keys))
    if query_mask is not None:
        parts.append(ops.expand_dims(ops.cast(query_mask, "bool"), 2))
    for mask in (key_mask, value_mask):
        if mask is not None:
            parts.append(ops.expand_dims(ops.cast(mask, "bool"), 1))
    if use_causal_mask:
        parts.append(causal_mask(num_queries, num_keys, start))
    if window is not None:
        parts.append(window_mask(num_queries, num_keys, window, start))
    if attention_mask is not None:
        attention_mask = ops.cast(attention_mask, "bool")
        rank = len(attention_mask.shape)
        if rank not in (2, 3, 4):
            raise ValueError(
                "`attention_mask` must broadcast to (B, T, S) or (B, H, T, S). "
                f"Received: attention_mask.shape={tuple(attention_mask.shape)}."
            )
        if rank == 4:
            parts = [ops.expand_dims(part, 1) for part in parts]
        parts.append(ops.expand_dims(attention_mask, 0) if rank == 2 else attention_mask)
    if not parts:
        return None
    joined = parts[0]
    for part in parts[1:]:
        joined = ops.logical_and(joined, part)
    return joined


def hides_nothing(masks: dict[str, Any]) -> bool:
    """Whether `join_masks` makes None of these arguments."""
    return all(part is None or part is False for name, part in masks.items() if name != "start")


def join_masks_of_block(
    rows: Any,
    num_keys: Any,
    example: Any,
    heads: Any,
    start: Any = 0,
    use_causal_mask: bool = False,
    **given: Any,
) -> Any:
    """Return the part of `join_masks` for some queries and heads of one example.

    No tensor of size `(T, S)` is made, unless the caller passed one.

    Args:
        rows: Consecutive indices of queries, integers `(r,)`; rows past `T` get an arbitrary mask.
        num_keys: `S`.
        example: Index of the example, a scalar integer.
        heads: Indices of the heads.
        start: Position of the first query of all among the keys.
        use_causal_mask: As in `join_masks`.
        **given: The other arguments of `join_masks`.

    Returns:
        Boolean tensor that broadcasts to `(1, heads, r, S)`, or None if nothing was given.
    """
    along = {"B": example[None], "T": rows, "H": heads}
    parts = {
        name: _select(name, ops.convert_to_tensor(part), along)
        for name, part in given.items()
        if part is not None and name != "window"
    }
    mask = join_masks(
        ops.shape(rows)[0],
        num_keys,
        use_causal_mask=use_causal_mask,
        start=start + rows[0],
        window=given.get("window"),
        **parts,
    )
    return with_heads(mask)


def with_heads(mask: Any) -> Any:
    """Return a joined mask with an axis for the heads, `(B, H, T, S)`; None as it is."""
    is_shared = mask is not None and len(mask.shape) == 3
    return ops.expand_dims(mask, 1) if is_shared else mask


def _select(name, part, along):
    """The entries of a mask argument at the given indices of its axes."""
    layout = next(layout for layout in LAYOUTS[name] if len(layout) == len(part.shape))
    for axis, letter in enumerate(layout):
        if letter in along:
            # An axis of size 1 broadcasts: every index means the only entry.
            last = ops.shape(part)[axis] - 1
            part = take_rows(part, ops.minimum(along[letter], last), axis=axis)
    return part


def take_rows(x: Any, indices: Any, axis: int) -> Any:
    """Return `ops.take`, with the right rank under XLA for an empty `x` too."""
    sizes = list(ops.shape(x))
    sizes[axis] = ops.shape(indices)[0]
    return ops.reshape(ops.take(x, indices, axis=axis), sizes)


def seen(mask: Any) -> tuple[Any, Any]:
    """Return which queries see any key, and which keys any query sees.

    Args:
        mask: Joined mask of three or four dimensions.

    Returns:
        Boolean tensors `(B, T)` and `(B, S)`, with 1 for a size that `mask` broadcasts.
    """
    if len(mask.shape) == 4:
        mask = ops.any(mask, axis=1)
    return ops.any(mask, axis=-1), ops.any(mask, axis=-2)


def hide(x: Any, is_seen: Any) -> Any:
    """Return `x` with zeros at positions that no query attends to.

    Such positions must not enter a product: zero times NaN is NaN.

    Args:
        x: Tensor of shape `(B, T, D)`.
        is_seen: Boolean `(B, T)`, or None for all.

    Returns:
        Tensor like `x`.
    """
    return x if is_seen is None else ops.where(ops.expand_dims(is_seen, 2), x, ops.zeros_like(x))
