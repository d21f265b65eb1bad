"""Positions as rotations of queries and keys."""

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attn.layers.checks import (
    check_choice,
    check_fraction,
    check_positive_integer,
    check_positive_number,
)
from keras_attn.layers.positions import angles_of
from keras_attn.layers.precision import precise_dtype
from keras_attn.layers.relative_positions import RelativePosition


@keras.saving.register_keras_serializable(package="keras_attn")
class RotaryEmbedding(RelativePosition):
    """Rotates queries and keys by angles that grow with their position.

    The pair `(x[2j], x[2j+1])` at position `t` is rotated by `t * r_j`, `r_j = base^(-2j/K)`, so
    that `q_t . k_s` depends on `s - t` alone (Su et al. 2021, section 3.2). The last feature of an
    odd `K` is left as it is.

    With `layout="half"` the pairs are `(x[j], x[j + K/2])`, as in the weights of Llama and Qwen.

    Scaling adapts a model to inputs longer than in training:

    - `"linear"` divides all rates by `factor` (Chen et al. 2023, section 2.3).
    - `"yarn"` divides rates with less than `beta_slow` turns in `original_max_len` positions. It
      keeps rates with more than `beta_fast` turns and interpolates between. Scores are multiplied
      by `(0.1 ln(factor) + 1)^2` (Peng et al. 2023, sections 3.2 and 3.4).
    - `"llama3"` does so by the number of turns itself, and leaves the scores (Grattafiori et al.
      2024, section 3.4.1, and the code of its release).

    Args:
        base: Base of the rates of the angles, above 1. Defaults to 10000.
        fraction: Share of the features of a head, from the first, that is rotated (Black et al.
            2022, section 2.1.1). Defaults to 1.
        scaling: None, `"linear"`, `"yarn"` or `"llama3"`. Defaults to None.
        layout: `"interleaved"` or `"half"`. Defaults to `"interleaved"`.
        factor: How many times longer inputs may be than in training, above 0. Defaults to 1.
        original_max_len: Longest input of the training, for `"yarn"` and `"llama3"`. Defaults to
            None.
        beta_fast: Turns above which these keep a rate. Defaults to 32, for `"llama3"` to 4.
        beta_slow: Turns below which these divide a rate by `factor`. Defaults to 1.

    Raises:
        ValueError: If `base` is not above 1, `layout` or `scaling` is unknown, or
            `original_max_len` is missing.

    Example:

    >>> from keras_attn import MultiHeadAttention
    >>> attention = MultiHeadAttention(8, 2, position=RotaryEmbedding())
    >>> x = ops.ones((1, 5, 8))
    >>> tuple(attention(x, x).shape)
    (1, 5, 8)
    """

    def __init__(
        self,
        base: float = 10000,
        fraction: float = 1.0,
        scaling: str | None = None,
        layout: str = "interleaved",
        factor: float = 1.0,
        original_max_len: int | None = None,
        beta_fast: float | None = None,
        beta_slow: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive_number("base", base)
        if base <= 1:
            raise ValueError(f"`base` must be a number above 1. Received: base={base!r}.")
        check_choice("layout", layout, ("interleaved", "half"))
        check_choice("scaling", scaling, (None, "linear", "yarn", "llama3"))
        if scaling in ("yarn", "llama3") or original_max_len is not None:
            original_max_len = check_positive_integer("original_max_len", original_max_len)
        self.base = float(base)
        self.fraction = check_fraction("fraction", fraction)
        self.layout = layout
        self.scaling = scaling
        self.factor = check_positive_number("factor", factor)
        self.original_max_len = original_max_len
        if beta_fast is None:
            beta_fast = 4.0 if scaling == "llama3" else 32.0
        self.beta_fast = check_positive_number("beta_fast", beta_fast)
        self.beta_slow = check_positive_number("beta_slow", beta_slow)

    @property
    def takes_positions(self) -> bool:
        return True

    def rates(self, size: int) -> np.ndarray:
        """Return the angle by which each pair of `K = size` features turns a position, float64."""
        num_pairs = size // 2
        rates = self.base ** (-2.0 * np.arange(num_pairs) / size)
        if self.scaling is None:
            return rates
        if self.scaling == "linear":
            return rates / self.factor

        longest = self.original_max_len or 1
        if self.scaling == "llama3":
            turns = longest * rates / (2 * math.pi)
            fast = np.clip((turns - self.beta_slow) / (self.beta_fast - self.beta_slow), 0, 1)
            return rates * fast + rates / self.factor * (1 - fast)
        # Fractional indices of the pairs with `beta_fast` and `beta_slow` turns.
        first, last = (
            size * math.log(longest / (2 * math.pi * turns)) / (2 * math.log(self.base))
            for turns in (self.beta_fast, self.beta_slow)
        )
        first, last = max(math.floor(first), 0), min(math.ceil(last), size - 1)
        slow = np.clip((np.arange(num_pairs) - first) / max(last - first, 0.001), 0, 1)
        return rates / self.factor * slow + rates * (1 - slow)

    def rotate(self, heads: Any, start: Any = 0, positions: Any = None) -> Any:
        heads = ops.convert_to_tensor(heads)
        num_pairs = int(heads.shape[-1] * self.fraction) // 2
        size = 2 * num_pairs + (self.fraction == 1 and heads.shape[-1] % 2)
        if positions is None:
            positions = ops.arange(ops.shape(heads)[2], dtype="int32") + ops.cast(start, "int32")
        angles = angles_of(positions, self.rates(size), precise_dtype(heads.dtype))
        angles = ops.expand_dims(angles, -3)  # (B or none, 1, T, K/2)
        stretch = 1.0
        if self.scaling == "yarn" and self.factor > 1:
            stretch = 0.1 * math.log(self.factor) + 1.0
        cos = ops.cast(ops.cos(angles) * stretch, heads.dtype)
        sin = ops.cast(ops.sin(angles) * stretch, heads.dtype)
        if self.layout == "half":
            left, right = heads[..., :num_pairs], heads[..., num_pairs : 2 * num_pairs]
        else:
            left, right = heads[..., 0 : 2 * num_pairs : 2], heads[..., 1 : 2 * num_pairs : 2]
        turned = [left * cos - right * sin, left * sin + right * cos]
        if self.layout == "half":
            turned = ops.concatenate(turned, axis=-1)
        else:
            shape = (*ops.shape(heads)[:-1], 2 * num_pairs)
            turned = ops.reshape(ops.stack(turned, axis=-1), shape)
        if 2 * num_pairs == heads.shape[-1]:
            return turned
        return ops.concatenate([turned, heads[..., 2 * num_pairs :]], axis=-1)
