"""All that hides keys from queries becomes one boolean mask; True = may attend."""

from __future__ import annotations

import numpy as np
from keras import ops

# What each argument of the attention call may look like.
LAYOUTS = {
    "query": ("BTD",),
    "key": ("BSD",),
    "value": ("BSD",),
    "valid_lens": ("B", "BT"),
    "attention_mask": ("TS", "BTS", "BHTS"),
    "query_mask": ("BT",),
    "key_mask": ("BS",),
    "value_mask": ("BS",),
}


def check_shapes(num_keys, num_heads=None, *, query, **arguments):
    """Refuse arguments of the attention call whose known sizes do not fit together.

    Args:
        num_keys: `S`, or None if it is known at run time only.
        num_heads: `H`, or None for a layer with one head.
        query: `(B, T, D)`.
        **arguments: Any of the other arguments in `LAYOUTS`, or None.

    Raises:
        ValueError: If one has another rank, or a size that differs (1 broadcasts for masks).
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
            or (size == 1 and (letter == "B" or name not in ("key", "value")))
            for letter, size in zip(layout, shape, strict=True)
        ):
            shapes = " or ".join(
                "(" + ", ".join(layout) + ("," if len(layout) == 1 else "") + ")"
                for layout in layouts
            )
            known = ", ".join(f"{letter}={size}" for letter, size in sizes.items())
            raise ValueError(
                f"`{name}` must have shape {shapes}, here with {known}. "
                f"Received: {name}.shape={shape}."
            )


def lengths_mask(valid_lens, num_keys):
    """The mask of the first `valid_lens` keys.

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


def causal_mask(num_queries, num_keys, start=0):
    """The mask under which query `i`, at position `start + i`, sees keys up to its position.

    Returns:
        Boolean tensor of shape `(1, T, S)`.
    """
    queries = ops.arange(num_queries, dtype="int32") + ops.cast(start, "int32")
    return (ops.arange(num_keys, dtype="int32")[None, :] <= queries[:, None])[None]


def join_masks(
    num_queries,
    num_keys,
    valid_lens=None,
    attention_mask=None,
    use_causal_mask=False,
    query_mask=None,
    key_mask=None,
    value_mask=None,
    start=0,
):
    """One mask that holds everything given.

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
        parts.append(ops.cast(query_mask, "bool")[:, :, None])
    parts += [ops.cast(m, "bool")[:, None, :] for m in (key_mask, value_mask) if m is not None]
    if use_causal_mask:
        parts.append(causal_mask(num_queries, num_keys, start))
    if attention_mask is not None:
        attention_mask = ops.cast(attention_mask, "bool")
        rank = len(attention_mask.shape)
        if rank not in (2, 3, 4):
            raise ValueError(
                "`attention_mask` must broadcast to (B, T, S) or (B, H, T, S). "
                f"Received: attention_mask.shape={tuple(attention_mask.shape)}."
            )
        if rank == 4:
            parts = [part[:, None] for part in parts]
        parts.append(attention_mask[None] if rank == 2 else attention_mask)
    if not parts:
        return None
    joined = parts[0]
    for part in parts[1:]:
        joined = ops.logical_and(joined, part)
    return joined


def hide_unseen(x, mask, axis):
    """`x` with zeros where no entry of `mask` along the other side is True.

    What nobody may attend to must not reach a product: zero times NaN is NaN.

    Args:
        x: Tensor of shape `(B, T, D)` (`axis=-2`: queries) or `(B, S, D)` (`axis=-1`: keys).
        mask: Joined mask of three or four dimensions.
        axis: The axis of `mask` that runs along `x`.

    Returns:
        Tensor like `x`.
    """
    if mask is None:
        return x
    if len(mask.shape) == 4:
        mask = ops.any(mask, axis=1)
    seen = ops.any(mask, axis=-1 if axis == -2 else -2)  # (B or 1, T or S)
    return ops.where(seen[:, :, None], x, ops.zeros_like(x))
