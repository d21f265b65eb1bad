"""Positions that are added to the input."""

from typing import Any

import keras
import numpy as np
from keras import initializers, ops

from keras_attn.layers.checks import (
    check_boolean,
    check_choice,
    check_layout,
    check_places,
    check_positive_integer,
    check_rate,
    check_start,
    is_tracing_shapes,
    known_values,
)
from keras_attn.layers.dense import TableLayer
from keras_attn.layers.layer import Layer
from keras_attn.layers.precision import precise_dtype
from keras_attn.position_schemes import SCHEMES


@keras.saving.register_keras_serializable(package="keras_attn")
class PositionalEncoding(Layer):
    """Adds sines and cosines of the position to the input.

    `P[t, 2j] = sin(t / 10000^(2j/D))`, `P[t, 2j+1] = cos(t / 10000^(2j/D))`, with `t` counted
    from 0 (Vaswani et al. 2017, section 3.5). An odd `D` ends with a sine. Without `interleaved`,
    all sines come first, then all cosines, as in tensor2tensor and Marian. Inputs may have any
    length: positions past `max_len` are computed in each call.

    Masking: keeps the mask of its input.

    Args:
        max_len: Number of positions to precompute. Defaults to 1000.
        dropout: Rate at which the sum is dropped in training. Defaults to 0.
        interleaved: Whether sines and cosines alternate. Defaults to True.
        **kwargs: `seed` of the dropout, and Keras's own arguments.

    Call arguments:
        x: `(B, T, D)`.
        start: Position of the first row; an integer, or a scalar tensor. Defaults to 0.
        training: Whether dropout applies.
        positions: Positions of the rows in place of `start`, integers `(T,)` or `(B, T)`.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: If `max_len` is not a positive integer, or `start` is not an integer of at
            least 0.

    Example:

    >>> encoded = PositionalEncoding()(ops.zeros((1, 2, 4)))
    >>> ops.convert_to_numpy(encoded)[0].round(2).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.8399999737739563, 0.5400000214576721, 0.009999999776482582, 1.0]]
    """

    def __init__(
        self,
        max_len: int = 1000,
        dropout: float = 0.0,
        interleaved: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.max_len = check_positive_integer("max_len", max_len)
        self.dropout = check_rate("dropout", dropout)
        self.interleaved = check_boolean("interleaved", interleaved)
        self.supports_masking = True
        self._dropout = self._make_dropout(self.dropout)

    def build(self, x_shape: tuple) -> None:
        size = x_shape[-1]
        # Angles in float64: in float32 those of late positions are off in the fourth digit.
        exponents = np.arange(size) // 2 * 2 / size
        order = np.arange(size)
        if not self.interleaved:
            order = np.concatenate([order[::2], order[1::2]])
        self._rates = 10000.0 ** -exponents[order]  # (D,)
        self._is_sine = order % 2 == 0
        angles = np.arange(self.max_len)[:, None] * self._rates
        self._table = np.where(self._is_sine, np.sin(angles), np.cos(angles))
        self._dropout.build(x_shape)

    def call(
        self, x: Any, start: Any = 0, training: bool | None = None, positions: Any = None
    ) -> Any:
        check_layout("x", x.shape, "BTD")
        check_start(start)
        check_places(positions)
        x = self._to_float(x)
        if positions is None:
            positions = ops.arange(ops.shape(x)[1], dtype="int32") + ops.cast(start, "int32")
        dtype = precise_dtype(x.dtype)
        rows = ops.take(
            ops.convert_to_tensor(self._table, dtype),
            ops.minimum(positions, self.max_len - 1),
            axis=0,
        )
        is_late = ops.expand_dims(positions, -1) >= self.max_len
        rows = ops.where(is_late, self._beyond_table(positions, dtype), rows)  # ([B,] T, D)
        return self._dropout(x + ops.cast(rows, x.dtype), training=training)

    def _beyond_table(self, positions, dtype):
        angles = angles_of(positions, self._rates, dtype)
        return ops.where(self._is_sine, ops.sin(angles), ops.cos(angles))

    def compute_output_shape(self, x_shape: tuple) -> tuple:
        return tuple(x_shape)


@keras.saving.register_keras_serializable(package="keras_attn")
class LearnedPositionalEncoding(TableLayer):
    """Adds a learned vector for each position to the input.

    `x[t] + P[start + t]`, with `P` of shape `(max_len, D)` trained like any weight (Gehring et
    al. 2017, section 3.1).

    The table has `max_len` rows. A position past the end raises an error if length and start are
    known: integers, or eager tensors. Inside a compiled graph, rows past the end are NaN.

    Masking: keeps the mask of its input.

    Args:
        max_len: Rows of the table, a positive integer: the longest input.
        dropout: Rate at which the sum is dropped in training. Defaults to 0.
        embeddings_initializer: Initializer of the table. Defaults to a normal distribution with
            the standard deviation 0.02 of Devlin et al. 2019.
        **settings: `embeddings_regularizer`, `embeddings_constraint`, `seed` of the dropout, and
            Keras's own arguments.

    Call arguments:
        x: `(B, T, D)`.
        start: Position of the first row; an integer, or a scalar tensor. Defaults to 0.
        training: Whether dropout applies.
        positions: Positions of the rows in place of `start`, integers `(T,)` or `(B, T)`.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: If `max_len` is not a positive integer, `start` is not an integer of at least
            0, or `start + T` is known to exceed `max_len`.

    Example:

    >>> encoding = LearnedPositionalEncoding(max_len=8)
    >>> tuple(encoding(ops.zeros((2, 5, 3)), start=3).shape)
    (2, 5, 3)
    """

    def __init__(
        self,
        max_len: int,
        dropout: float = 0.0,
        embeddings_initializer: Any = None,
        **settings: Any,
    ) -> None:
        if embeddings_initializer is None:
            embeddings_initializer = initializers.RandomNormal(stddev=0.02)
        super().__init__(embeddings_initializer=embeddings_initializer, **settings)
        self.max_len = check_positive_integer("max_len", max_len)
        self.dropout = check_rate("dropout", dropout)
        self.supports_masking = True
        self._dropout = self._make_dropout(self.dropout)

    def build(self, x_shape: tuple) -> None:
        self._table = self._add_table((self.max_len, x_shape[-1]), "table")
        self._dropout.build(x_shape)

    def call(
        self, x: Any, start: Any = 0, training: bool | None = None, positions: Any = None
    ) -> Any:
        check_layout("x", x.shape, "BTD")
        check_start(start)
        check_places(positions)
        x = self._to_float(x)
        if positions is None:
            if not is_tracing_shapes():
                self._check_end(x.shape[1], known_values(start))
            positions = ops.arange(ops.shape(x)[1], dtype="int32") + ops.cast(start, "int32")
        is_in_table = ops.logical_and(positions >= 0, positions < self.max_len)
        rows = ops.take(self._table, ops.clip(positions, 0, self.max_len - 1), axis=0)
        nan = ops.cast(float("nan"), rows.dtype)
        rows = ops.where(ops.expand_dims(is_in_table, -1), rows, nan)  # (T, D) or (B, T, D)
        return self._dropout(x + ops.cast(rows, x.dtype), training=training)

    def _check_end(self, length, start):
        # An unknown length or start counts as 0. JAX represents an unknown length by an expression.
        length = length if isinstance(length, int) else None
        start = None if start is None else int(start)
        if (start or 0) < 0 or (start or 0) + (length or 0) > self.max_len:
            raise ValueError(
                f"`start` must be at least 0 and `start + T` at most `max_len={self.max_len}`, "
                f"the length of the learned table. Received: start={start}, T={length}. "
                "Shorten the input, or train with a larger `max_len`."
            )

    def compute_output_spec(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        if len(x.shape) == 3:
            self._check_end(x.shape[1], 0)
        return super().compute_output_spec(x, *args, **kwargs)

    def compute_output_shape(self, x_shape: tuple) -> tuple:
        self._check_end(x_shape[1], 0)
        return tuple(x_shape)


def angles_of(positions: Any, rates: np.ndarray, dtype: str) -> Any:
    """Return the angles `position * rate` without whole turns, exact for every 32-bit position.

    In float32 the product itself has no correct digit at 1e8. Parts of a turn are counted in
    integers of 32 bits here: they overflow as an angle does, at a whole turn.

    Args:
        positions: Integers of any shape.
        rates: Angles of one position, float64 `(N,)`.
        dtype: `"float32"` or `"float64"`.

    Returns:
        Angles of shape `(*positions.shape, N)`.
    """
    turns = rates / (2 * np.pi)
    positions = ops.expand_dims(ops.convert_to_tensor(positions), -1)
    if dtype == "float64":
        return ops.cast(positions, dtype) * ops.convert_to_tensor(2 * np.pi * turns, dtype)
    units = turns % 1 * 2.0**32
    whole = np.floor(units)
    parts = ops.cast(positions, "int32") * ops.convert_to_tensor(
        whole.astype(np.uint32).view(np.int32), "int32"
    )
    rest = ops.cast(positions, dtype) * ops.convert_to_tensor(units - whole, dtype)
    return (ops.cast(parts, dtype) + rest) * (2 * np.pi / 2.0**32)


def own_position(position: Any, dtype: Any = None, max_len: int | None = None) -> Any:
    """Return an unbuilt position layer for one owner: of a name, or a copy of a layer.

    Owners that shared a layer would share its weights, and Keras could not load the model.

    Args:
        position: Name in `SCHEMES`, a layer, or None, which is returned.
        dtype: Dtype policy of a layer that is made of a name. Defaults to Keras's.
        max_len: Number of positions, for a layer that is made of a name and has a table of them.
            Defaults to None: that of `SCHEMES`.

    Raises:
        ValueError: If there is no scheme of that name.
    """
    if isinstance(position, keras.layers.Layer):
        return type(position).from_config(position.get_config())
    if not isinstance(position, str):
        return position
    check_choice("position", position, tuple(SCHEMES))
    name, arguments = SCHEMES[position]
    if "max_len" in arguments and max_len is not None:
        arguments = {**arguments, "max_len": max_len}
    made = keras.saving.get_registered_object(f"keras_attn>{name}")
    return made(**arguments, dtype=dtype, name="position")
