"""Everything that hides keys from queries becomes one boolean mask; True = attend.

Masks get new axes by `ops.expand_dims`: LiteRT does not convert the slices that TensorFlow makes of
`mask[:, None]` for booleans.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from keras_attn.layers.checks import (
    axes_hint,
    check_floats,
    check_lengths,
    check_mask,
    is_tracing_shapes,
    known_values,
)

# Possible axes of each argument of the attention call.
LAYOUTS = {
    "query": ("BTD",),
    "key": ("BSD",),
    "value": ("BSD",),
    "valid_lens": ("B", "BT"),
    "attention_mask": ("TS", "BTS", "BHTS"),
    "attention_bias": ("TS", "BTS", "BHTS"),
    "query_mask": ("BT",),
    "key_mask": ("BS",),
    "value_mask": ("BS",),
    "cache_mask": ("BS",),
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
            lengths are not integers in `[0, S]`, or a mask holds floats.
    """
    sizes = dict(zip("BT", query.shape, strict=False)) | {"S": num_keys, "H": num_heads}
    sizes = {letter: size for letter, size in sizes.items() if size is not None}
    for name, given in {"query": query, **arguments}.items():
        if given is None:
            continue
        shape = tuple(np.shape(given))
        layouts = LAYOUTS[name]
        layout = next((layout for layout in layouts if len(layout) == len(shape)), None)
        if layout is None or not all(
            size in (None, sizes.get(letter, size))
            or (size == 1 and (letter == "B" or name not in FEATURES))
            for letter, size in zip(layout, shape, strict=True)
        ):
            shapes = " or ".join(str(tuple(layout)).replace("'", "") for layout in layouts)
            known = ", ".join(f"{letter}={size}" for letter, size in sizes.items())
            raise ValueError(
                f"`{name}` must have shape {shapes}, here with {known}. "
                f"Received: {name}.shape={shape}.{_shape_hint(name, shape, sizes)}"
            )
        if name.endswith("valid_lens"):
            check_lengths(name, given, num_keys)
        elif name.endswith("_mask"):
            check_mask(name, given)
            if shape == (sizes.get("B"), num_keys) and layout == "TS":
                _warn_of_padding(given, shape)
        elif name == "attention_bias":
            check_floats(name, given)


def _shape_hint(name, shape, sizes):
    if name == "query" and len(shape) == 2:
        # The sizes were read from other axes of the query itself.
        return axes_hint(shape, "BTD")
    if name in FEATURES:
        return axes_hint(shape, "BSD")
    if name.endswith("valid_lens") and len(shape) > 2:
        return " A mask is given by name: `attention_mask`."
    if name == "attention_mask" and shape == (sizes.get("B"), sizes.get("S")):
        return " A mask of padding (B, S) is `key_mask`, or `mask[:, None]` here."
    return ""


def _warn_of_padding(mask, shape):
    """Warn of a mask (T, S) that may be one of padding (B, S), as far as its values are known."""
    values = None if is_tracing_shapes() else known_values(mask)
    if values is not None and not values.all() and not np.array_equal(values, np.tri(*shape)):
        warnings.warn(
            f"`attention_mask` of shape {shape} is read as (T, S), the same for each example. If "
            "it is a mask of padding (B, S), pass `key_mask`, or `mask[:, None]`; else "
            "`mask[None]` silences this.",
            stacklevel=4,
        )


def fits(shape: tuple, expected: tuple, broadcasts: bool = False) -> bool:
    """Whether all sizes are as expected, as far as they are known; 1 may broadcast."""
    return len(shape) == len(expected) and all(
        size == other
        or (broadcasts and size == 1)
        or not (isinstance(size, int) and isinstance(other, int))
        for size, other in zip(shape, expected, strict=True)
    )


def lengths_mask(valid_lens: Any, num_keys: Any) -> Any:
    """Return the mask of the first `valid_lens` keys of `S`.

    It is boolean `(B, 1, S)` for lengths `(B,)`, and `(B, T, S)` for a length of each query.
    """
    if not keras.backend.is_keras_tensor(valid_lens):
        valid_lens = ops.convert_to_tensor(valid_lens)
    valid_lens = ops.cast(valid_lens, "int32")
    if len(valid_lens.shape) == 1:
        valid_lens = valid_lens[:, None]
    return ops.less(ops.arange(num_keys, dtype="int32"), valid_lens[:, :, None])


class Masks(NamedTuple):
    """Masks of one call of attention, combined with AND.

    Attributes:
        valid_lens: Integers `(B,)` or `(B, T)`: number of valid keys; later keys are masked.
        attention_mask: Boolean, broadcastable to `(B, T, S)` or `(B, H, T, S)`.
        use_causal_mask: Whether query `i` sees keys up to position `start + i` only.
        query_mask: Boolean `(B, T)`; a query that is False attends to nothing.
        key_mask: Boolean `(B, S)`.
        value_mask: Boolean `(B, S)`.
        cache_mask: Boolean `(B, S)`, of a cache, which holds zeros where it is False.
        start: Position of the first query among the keys.
        window: Size of the sliding window: distances below it are attended to, or None.
        num_queries: `T`.
        num_keys: `S`.
    """

    valid_lens: Any = None
    attention_mask: Any = None
    use_causal_mask: bool = False
    query_mask: Any = None
    key_mask: Any = None
    value_mask: Any = None
    cache_mask: Any = None
    start: Any = 0
    window: int | None = None
    num_queries: Any = None
    num_keys: Any = None

    def of_call(
        self,
        query: Any,
        key: Any,
        value: Any,
        attention_bias: Any = None,
        num_heads: int | None = None,
        cache: Any = None,
    ) -> Masks:
        """Return these masks with the sizes of the inputs of a call, which must fit together.

        A `cache` holds all keys; `key` and `value` are not used then. `num_heads` is None for a
        layer with one head.
        """
        inputs = {"key": key, "value": value} if cache is None else {}
        keys, axis = (key, 1) if cache is None else (cache["key"], 2)
        num_keys = keys.shape[axis] if len(keys.shape) > axis else None
        parts = {name: part for name, part in self._asdict().items() if name in LAYOUTS}
        parts |= {"attention_bias": attention_bias, **inputs}
        check_shapes(num_keys, num_heads, query=query, **parts)
        return self._replace(num_queries=ops.shape(query)[1], num_keys=ops.shape(keys)[axis])

    @property
    def hide_nothing(self) -> bool:
        """Whether `join` returns None."""
        given = self._replace(num_queries=None, num_keys=None, start=None)
        return all(part is None or part is False for part in given)

    def join(self) -> Any:
        """Return one boolean mask that broadcasts to `(B, H, T, S)`, or None."""
        parts = []
        if self.valid_lens is not None:
            parts.append(ops.expand_dims(lengths_mask(self.valid_lens, self.num_keys), 1))
        if self.query_mask is not None:
            parts.append(ops.expand_dims(ops.cast(self.query_mask, "bool"), (1, 3)))
        for mask in (self.key_mask, self.value_mask, self.cache_mask):
            if mask is not None:
                parts.append(ops.expand_dims(ops.cast(mask, "bool"), (1, 2)))
        if self.use_causal_mask or self.window is not None:
            queries = ops.arange(self.num_queries, dtype="int32") + ops.cast(self.start, "int32")
            queries = queries[None, None, :, None]
            keys = ops.arange(self.num_keys, dtype="int32")[None, None, None, :]
            parts += [keys <= queries] if self.use_causal_mask else []
            parts += [ops.abs(keys - queries) < self.window] if self.window is not None else []
        if self.attention_mask is not None:
            parts.append(with_four_axes(ops.cast(self.attention_mask, "bool")))
        return _all(parts)

    def padding(self) -> Any:
        """Return which keys some query may attend to by lengths and masks of keys.

        Boolean `(B, S)`, or None if there are no such masks.
        """
        masks = (self.key_mask, self.value_mask)
        parts = [ops.cast(mask, "bool") for mask in masks if mask is not None]
        if self.valid_lens is not None:
            lens = ops.convert_to_tensor(self.valid_lens)
            longest = lens if len(lens.shape) == 1 else ops.max(lens, axis=1, initial=0)
            parts.append(lengths_mask(longest, self.num_keys)[:, 0])
        return _all(parts)

    def num_seen(self, num_queries: Any) -> Any:
        """Return how many neighbouring keys some neighbouring queries can see, `S` at most."""
        if self.window is None or not isinstance(self.num_keys, int):
            return self.num_keys
        sides = 1 if self.use_causal_mask else 2
        return min(self.num_keys, num_queries + sides * (self.window - 1))

    def first_seen(self, first_query: Any, num_seen: Any) -> Any:
        """Return the first of `num_seen` keys that hold all that the queries can see."""
        if self.window is None or num_seen is self.num_keys:
            return 0
        first = ops.cast(self.start, "int32") + first_query - (self.window - 1)
        return ops.clip(first, 0, self.num_keys - num_seen)

    def of_block(
        self, example: Any, heads: Any, first_query: Any, num_queries: Any, first_key: Any, num: Any
    ) -> Masks:
        """Return the masks of some queries, `num` keys and some heads of one example.

        No tensor of size `(T, S)` is made, unless the caller passed one. `heads` are the indices
        `(h,)` of the heads. Queries past `T` get an arbitrary mask.
        """
        indices = {
            "B": ops.reshape(example, (1,)),
            "H": heads,
            "T": first_query + ops.arange(num_queries, dtype="int32"),
        }
        if num is not self.num_keys:
            indices["S"] = first_key + ops.arange(num, dtype="int32")
        chosen = {
            name: _choose(name, ops.convert_to_tensor(part), indices)
            for name, part in self._asdict().items()
            if name in LAYOUTS and part is not None
        }
        if self.valid_lens is not None:
            chosen["valid_lens"] = ops.cast(chosen["valid_lens"], "int32") - first_key
        start = ops.cast(self.start, "int32") + first_query - first_key
        return self._replace(num_queries=num_queries, num_keys=num, start=start, **chosen)


def _all(masks):
    return functools.reduce(ops.logical_and, masks) if masks else None


def _choose(name, part, indices):
    """The entries of a mask argument at the given indices of its axes."""
    layout = next(layout for layout in LAYOUTS[name] if len(layout) == len(part.shape))
    for axis, letter in enumerate(layout):
        if letter in indices:
            sizes = list(ops.shape(part))
            # An axis of size 1 broadcasts: every index means the only entry.
            chosen = ops.minimum(indices[letter], sizes[axis] - 1)
            sizes[axis] = ops.shape(chosen)[0]
            # Under XLA, `take` from an empty mask has the wrong rank.
            part = ops.reshape(ops.take(part, chosen, axis=axis), sizes)
    return part


def with_four_axes(x: Any) -> Any:
    """Return a tensor `(T, S)`, `(B, T, S)` or `(B, H, T, S)` with four axes; None as None."""
    if x is None:
        return None
    x = ops.convert_to_tensor(x)
    return ops.expand_dims(x, {2: (0, 1), 3: 1, 4: ()}[len(x.shape)])


def hide(x: Any, seen: Any) -> Any:
    """Return `x` with zeros at padding, which must not enter a product: zero times NaN is NaN.

    `x` is `(B, S, D)`, `(B, G, S, D)` or None; `seen` is boolean `(B, S)`, or None for all.
    """
    if seen is None or x is None:
        return x
    seen = ops.expand_dims(seen, 2 if len(x.shape) == 3 else (1, 3))
    return ops.where(seen, x, ops.zeros_like(x))
