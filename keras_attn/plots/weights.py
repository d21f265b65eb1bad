"""Attention weights and tokens as the plots take them."""

import contextlib
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from keras_attn.layers.checks import known_values


def numbers_of(name: str, x: Any) -> np.ndarray:
    """Values of an array or tensor as a float32 or float64 array."""
    values = known_values(x)
    if values is None or values.dtype.kind in "OSUMm":
        raise ValueError(
            f"`{name}` must be an array of numbers, or a tensor whose values are known. "
            f"Received: type({name})={type(x).__name__}."
        )
    return values if values.dtype == np.float64 else values.astype("float32")


def layers_of(
    weights: Any, example: int, mask: Any, query_tokens: Any, key_tokens: Any
) -> dict[str, np.ma.MaskedArray]:
    """Attention weights `(H, T, S)` of one example by layer name; the name is "" without a dict.

    The arguments are those of `plot_attention`. Masked cells are masked in the result.
    """
    if isinstance(weights, list | tuple) and any(np.ndim(one) == 4 for one in weights):
        raise ValueError(
            "`weights` of several layers must be a dict, `{name: weights}`, as layers return it. "
            f"Received: a {type(weights).__name__} of {len(weights)}."
        )
    if not isinstance(weights, Mapping):
        layers = {"": _one_example("weights", weights, example, mask)}
    elif not weights:
        raise ValueError("`weights` must hold at least one layer. Received: weights={}.")
    else:
        masks = mask if isinstance(mask, Mapping) else dict.fromkeys(weights, mask)
        layers = {
            str(name): _one_example(f"weights[{name!r}]", layer, example, masks.get(name))
            for name, layer in weights.items()
        }
    for name, layer in layers.items():
        _check_tokens("query_tokens", query_tokens, "T", layer.shape[1], name)
        _check_tokens("key_tokens", key_tokens, "S", layer.shape[2], name)
    return layers


def _one_example(name: str, weights: Any, example: int, mask: Any) -> np.ma.MaskedArray:
    array = numbers_of(name, weights)
    if array.ndim not in (2, 3, 4) or array.size == 0:
        raise ValueError(
            f"`{name}` must have shape (T, S), (H, T, S) or (B, H, T, S), no size 0. "
            f"Received: {name}.shape={array.shape}."
        )
    is_hidden = array == 0 if mask is None else ~masked_by(name, array, mask)
    array, is_hidden = (
        one.reshape((1,) * (4 - one.ndim) + one.shape) for one in (array, is_hidden)
    )
    is_integer = isinstance(example, Integral) and not isinstance(example, bool)
    if not is_integer or not 0 <= example < len(array):
        raise ValueError(
            f"`example` must be an integer from 0 to {len(array) - 1}: `{name}` has "
            f"{len(array)} in its batch. Received: example={example!r}."
        )
    chosen = array[example]
    if not (chosen.min() >= 0 and chosen.max() <= 1.01):  # False for NaN; bfloat16 rounds
        raise ValueError(
            f"`{name}` must be attention weights, after the softmax: from 0 to 1. "
            f"Received: values from {chosen.min():.3g} to {chosen.max():.3g}."
        )
    return np.ma.MaskedArray(chosen, is_hidden[example])


def masked_by(name: str, weights: np.ndarray, mask: Any) -> np.ndarray:
    """Mask in the shape of the weights.

    Raises:
        ValueError: If the mask is not boolean, has another shape, or hides a weight above 0.
    """
    values = known_values(mask)
    full = None
    if values is not None and values.dtype == bool:
        with contextlib.suppress(ValueError):
            full = np.broadcast_to(values, weights.shape)
    if full is None:
        raise ValueError(
            f"`mask` must be boolean, with a shape that broadcasts to `{name}`, {weights.shape}. "
            f"Received: mask of shape {np.shape(mask)} and type {getattr(values, 'dtype', None)}."
        )
    if num_hidden := int((weights[~full] > 0).sum()):
        raise ValueError(
            "`mask` must be True where a query attends to a key. "
            f"Received: mask=False at {num_hidden} weights of `{name}` above 0."
        )
    return full


def _check_tokens(name: str, tokens: Any, letter: str, size: int, layer: str) -> None:
    if tokens is None:
        return
    is_list = isinstance(tokens, Iterable) and not isinstance(tokens, str)
    if not is_list or not all(isinstance(token, str) for token in tokens):
        raise ValueError(f"`{name}` must be a list of strings. Received: {name}={tokens!r}.")
    if len(tokens) != size:
        of_layer = f" of layer {layer!r}" if layer else ""
        raise ValueError(
            f"`{name}` must be as many as the weights{of_layer} have, {letter}={size}. "
            f"Received: len({name})={len(tokens)}. Plot layers of other sizes separately."
        )
