"""Migration from `keras.layers.MultiHeadAttention`: weights and call order."""

from __future__ import annotations

import warnings
from typing import Any

import keras
import numpy as np
from keras import ops

# Names of the projections in `keras.layers.MultiHeadAttention`, and here.
PROJECTIONS = {
    "query": "query",
    "key": "key",
    "value": "value",
    "gate": "gate",
    "attention_output": "output",
}


def copy_from_keras(attention: keras.layers.Layer, layer: keras.layers.Layer) -> None:
    """Copy the weights of a `keras.layers.MultiHeadAttention` to a `MultiHeadAttention`.

    Kernels in Keras are `(D, H, K)` and `(H, K, D)`, here `(D, H K)` and `(H K, D)`.

    Raises:
        ValueError: If a layer is not built, or the weights of both do not correspond; nothing is
            changed then.
    """
    if not isinstance(layer, keras.layers.MultiHeadAttention):
        raise ValueError(
            "`layer` must be a keras.layers.MultiHeadAttention; the kernels of other layers have "
            f"other shapes. Received: a {type(layer).__name__}, layer={layer!r}."
        )
    if not layer.built:
        raise ValueError(f"`layer` must be built: call it. Received: layer={layer!r}.")
    if not attention.built:
        raise ValueError(
            f"Build {attention.name!r} before `weights_from_keras`: call it, or "
            "`build(query_shape, key_shape)`. Received: built=False."
        )
    adapted = [x.name for x in attention._flatten_layers() if getattr(x, "lora_enabled", False)]
    if adapted:
        raise ValueError(
            f"{attention.name!r} must have no LoRA adapters, which would change what the copied "
            f"weights compute. Received: adapters in {adapted}. Copy first, then enable LoRA."
        )
    sizes = layer.num_heads, layer.key_dim, layer.value_dim or layer.key_dim
    ours = attention.num_heads, attention._head_size, attention._value_size
    if sizes != ours:
        raise ValueError(
            f"`layer` must have the heads of {attention.name!r}, (num_heads, key_dim, value_dim)="
            f"{ours}: the same weights mean something else in other heads. Received: {sizes}."
        )
    targets = {"/".join(v.path.split("/")[-2:]): v for v in attention.weights}
    sources: dict[str, Any] = {}
    for variable in layer.weights:
        owner, name = variable.path.split("/")[-2:]
        if owner in PROJECTIONS:
            sources[f"{PROJECTIONS[owner]}/{name}"] = ops.convert_to_numpy(variable)
    wanted = {name for name in targets if name.endswith(("/kernel", "/bias"))}
    copies = {}
    for name in sorted(wanted | set(sources)):
        source, target = sources.get(name), targets.get(name)
        shapes = [None if x is None else tuple(x.shape) for x in (source, target)]
        if source is None or target is None or not _same_rows(*shapes):
            raise ValueError(
                f"`layer` must have the weights of {attention.name!r}. "
                f"Received: {name} of shape {shapes[0]} in `layer`, of shape {shapes[1]} here."
            )
        copies[name] = source.reshape(shapes[1])
    for name, array in copies.items():
        targets[name].assign(array)


def _same_rows(theirs: Any, ours: Any) -> bool:
    """Whether `(D, H, K)` or `(H, K, D)` is `(D, H K)` or `(H K, D)`, and `(H, K)` is `(H K,)`."""
    if np.prod(theirs) != np.prod(ours):
        return False
    return len(ours) == 1 or theirs[0] == ours[0] or theirs[-1] == ours[-1]


def warn_of_order(key: Any, value: Any) -> None:
    """Warn of positional key and value of different sizes: Keras's call order is different."""
    sizes = [getattr(x, "shape", (None,))[-1] for x in (key, value)]
    if None not in sizes and sizes[0] != sizes[1]:
        warnings.warn(
            "The call order is (query, key, value); keras.layers.MultiHeadAttention has "
            "(query, value, key). Pass `key` and `value` of different sizes by name to silence "
            f"this. Received: key.shape={tuple(key.shape)}, value.shape={tuple(value.shape)}.",
            stacklevel=3,
        )
