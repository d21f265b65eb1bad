"""Softmax that is exactly zero behind a mask."""

from typing import Any

import keras
import numpy as np
from keras import backend, ops

from keras_attn.layers.checks import check_lengths, check_mask
from keras_attn.layers.masks import fits, lengths_mask
from keras_attn.layers.precision import precise_dtype


def masked_softmax(scores: Any, valid_lens: Any = None, mask: Any = None) -> Any:
    """Softmax over the last axis that is exactly zero where a key is masked.

    `p[s] = m[s] * exp(x[s]) / sum_r(m[r] * exp(x[r]))`, with `m` the mask as 0 and 1 (Vaswani et
    al. 2017, section 3.2.3). A row whose keys are all masked gives zeros, not NaN, and has a finite
    gradient. Masked scores, NaN included, affect neither result nor gradient.

    Args:
        scores: Float tensor of shape `(..., T, S)`.
        valid_lens: Optional integers `(B,)`, or `(B, T)` for each query: number of valid keys;
            later keys are masked.
        mask: Optional boolean tensor that broadcasts to `scores`; True = attend. Combined
            with `valid_lens` by AND.

    Returns:
        Attention weights, shape and dtype of `scores` (computed in float32 at least).

    Raises:
        ValueError: If `valid_lens` is given for scores of fewer than three dimensions, has another
            shape or is known not to lie in `[0, S]`; if `mask` does not broadcast to `scores` or
            holds floats; if `scores` are not floats.

    Example:

    >>> weights = masked_softmax(ops.zeros((2, 1, 4)), valid_lens=[2, 0])
    >>> ops.convert_to_numpy(weights)[:, 0].tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    if not keras.backend.is_keras_tensor(scores):
        scores = ops.convert_to_tensor(scores)
    dtype = backend.standardize_dtype(scores.dtype)
    if "float" not in dtype:
        raise ValueError(f"`scores` must be floats. Received: scores.dtype={dtype}.")
    shape = tuple(scores.shape)
    if mask is not None:
        _check_mask(mask, shape)
        mask = ops.cast(mask, "bool")
    if valid_lens is not None:
        _check_valid_lens(valid_lens, shape)
        lengths = _lengths_mask(valid_lens, scores)
        mask = lengths if mask is None else ops.logical_and(mask, lengths)
    if mask is not None:
        scores = ops.where(mask, scores, 0.0)  # they need not be finite
    return ops.cast(weigh(scores, mask), dtype)


def weigh(scores: Any, mask: Any = None, sinks: Any = None) -> Any:
    """Masked softmax of scores, with an optional logit that takes weight from all keys.

    `p[s] = m[s] * exp(x[s]) / (exp(sink) + sum_r(m[r] * exp(x[r])))` (OpenAI 2025, gpt-oss model
    card, section 2.2).

    Args:
        scores: Floats `(..., T, S)`, finite behind the mask too.
        mask: Boolean that broadcasts to `scores`, or None.
        sinks: Logits that broadcast to `(..., T, 1)`, or None.

    Returns:
        Weights `(..., T, S)` in float64 for float64, else in float32.
    """
    dtype = precise_dtype(scores.dtype)
    scores = ops.cast(scores, dtype)
    if mask is not None:
        # Rows without a key keep their scores: a softmax of -inf only is NaN. A sum takes less
        # time than `where`, and so does its gradient. tf2onnx converts `where` with a constant.
        has_keys = ops.any(mask, axis=-1, keepdims=True)  # small: masks broadcast
        kept = ops.logical_or(mask, ops.logical_not(has_keys))
        scores = scores + ops.where(kept, ops.zeros((), dtype), float("-inf"))
    if sinks is None and scores.shape[-1] == 1:
        weights = ops.ones_like(scores)  # Keras warns of a softmax of one number
    elif sinks is None:
        weights = ops.softmax(scores, axis=-1)
    else:
        sinks = ops.cast(sinks, dtype)
        highest = ops.max(scores, axis=-1, keepdims=True, initial=float("-inf"))
        highest = ops.stop_gradient(ops.maximum(highest, sinks))
        powers = ops.exp(scores - highest)
        weights = powers / (ops.sum(powers, axis=-1, keepdims=True) + ops.exp(sinks - highest))
    # Already 0 behind the mask of other rows.
    return weights if mask is None else weights * ops.cast(has_keys, dtype)


def _lengths_mask(valid_lens, scores):
    """Mask of the first keys that broadcasts to `scores`."""
    num_keys, more_axes = ops.shape(scores)[-1], tuple(range(1, len(scores.shape) - 2))
    if num_keys is not None:
        return ops.expand_dims(lengths_mask(valid_lens, num_keys), more_axes)
    # In a functional model of unknown size: keys are counted by a sum, as there is no range.
    lengths = ops.expand_dims(valid_lens, -1)
    lengths = ops.expand_dims(lengths, 1) if len(lengths.shape) == 2 else lengths
    numbers = ops.cumsum(ops.ones_like(scores, dtype="int32"), axis=-1)
    return numbers <= ops.cast(ops.expand_dims(lengths, more_axes), "int32")


def _check_valid_lens(valid_lens, shape):
    if len(shape) < 3:
        raise ValueError(
            "`valid_lens` needs `scores` of shape (B, ..., T, S). "
            f"Received: scores.shape={shape}. Pass a `mask` instead."
        )
    given = tuple(np.shape(valid_lens))
    if len(given) > 2:
        raise ValueError(
            "`valid_lens` must have shape (B,) or (B, T). A mask is given by name: `mask`. "
            f"Received: valid_lens.shape={given}."
        )
    expected = (shape[0], shape[-2])[: len(given) or 1]
    if not fits(given, expected, broadcasts=True):
        raise ValueError(
            f"`valid_lens` must have shape (B,) or (B, T), here with B={shape[0]}, "
            f"T={shape[-2]}. Received: valid_lens.shape={given}."
        )
    check_lengths("valid_lens", valid_lens, shape[-1])


def _check_mask(mask, shape):
    given = tuple(np.shape(mask))
    if not fits(given, shape[max(len(shape) - len(given), 0) :], broadcasts=True):
        raise ValueError(
            "`mask` must broadcast to `scores`. "
            f"Received: mask.shape={given}, scores.shape={shape}."
        )
    check_mask("mask", mask)
